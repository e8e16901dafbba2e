package collation

import (
	"os"
	"testing"

	"github.com/holdfast-db/holdfast/internal/devtools/spectest"
)

func TestMain(m *testing.M) { os.Exit(spectest.Main(m)) }
