package collation

import (
	"os"
	"testing"

	"github.com/holdfast-db/holdfast/internal/spectest"
)

func TestMain(m *testing.M) { os.Exit(spectest.Main(m)) }
