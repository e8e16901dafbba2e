package pipeline

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
)

// https://www.mongodb.com/docs/manual/core/aggregation-pipeline-limits/
func TestAPipelineHasAtMost1000Stages(t *testing.T) {
	for stages, refused := range map[int]bool{1000: false, 1001: true} {
		list := make(bson.A, stages)
		for i := range list {
			list[i] = bson.D{{Key: "$skip", Value: 1}}
		}
		_, doc, err := bson.MarshalValue(list)
		if err != nil {
			t.Fatal(err)
		}
		_, err = Parse(doc, Options{DB: "db", Coll: "c"})
		if refused && (err == nil || mongoerr.CodeOf(err) != 7749501) || !refused && err != nil {
			t.Errorf("%d stages: %v", stages, err)
		}
	}
}
