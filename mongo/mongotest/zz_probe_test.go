package mongotest_test
import ("testing";"fmt";"go.mongodb.org/mongo-driver/v2/mongo")
func TestProbe(t *testing.T){
	c := reference(t).Collection("p")
	for _, x := range [][2]string{
{`{"a":[1,2]}`,`{"a.0":null}`},
{`{"a":[1,[2]]}`,`{"a.0":null}`},
{`{"a":[[1],2]}`,`{"a.0.x":null}`},
{`{"a":[[{"x":1}]]}`,`{"a.0.x":null}`},
{`{"a":[[{"x":1}],2]}`,`{"a.0.x":null}`},
{`{"a":[[{"x":1},2]]}`,`{"a.0.x":null}`},
{`{"a":[{"x":1}]}`,`{"a.0.x":{"$exists":false}}`},
{`{"a":[{"x":1},5]}`,`{"a.0.x":null}`},
{`{"a":[{"x":[]}]}`,`{"a.x.y":null}`},
{`{"a":{"x":[]}}`,`{"a.x.y":null}`},
{`{"a":[{"x":[]}]}`,`{"a.0.x.y":null}`},
{`{"a":[{"x":[1]}]}`,`{"a.0.x.y":null}`},
{`{"a":[[]]}`,`{"a.0.0":null}`},
{`{"a":[[[]]]}`,`{"a.0.0.x":null}`},
{`{"a":[[1]]}`,`{"a.0.1":null}`},
{`{"a":[[1]]}`,`{"a.x.y":null}`},
{`{"a":[]}`,`{"a.x.y":null}`},
{`{"a":[{"x":{"y":1}}]}`,`{"a.x.y":null}`},
{`{"a":[{"x":{"y":1}},1]}`,`{"a.x.y":null}`},
{`{"a":[[],[1]]}`,`{"a.0.x":null}`},
{`{"a":[[],[1]]}`,`{"a.1.x":null}`},
{`{"a":[{"0":1}]}`,`{"a.0":null}`},
{`{"a":[{"0":1}]}`,`{"a.1":null}`},
{`{"a":[[[]],1]}`,`{"a.0.x":null}`},
{`{"a":[1]}`,`{"a.x":{"$ne":null}}`},
{`{"a":[[]]}`,`{"a.0.x":{"$ne":null}}`},
{`{"a":[[]]}`,`{"a.0.x":{"$gte":null}}`},
{`{"a":[1]}`,`{"a.x":{"$gte":null}}`},
{`{"a":[1]}`,`{"a.x":{"$in":[null]}}`},
{`{"a":[]}`,`{"a.x":{"$in":[null]}}`},
{`{"a":[1]}`,`{"a.x":{"$gte":{"$minKey":1}}}`},
{`{"a":[[]]}`,`{"a.0.x":{"$gte":{"$minKey":1}}}`},
{`{"a":[[1,2]]}`,`{"a.0":{"$type":"number"}}`},
{`{"a":[[1,2]]}`,`{"a.0":{"$type":"array"}}`},
{`{"a":[[1,2]]}`,`{"a.0":{"$gt":0}}`},
{`{"a":[[1,2]]}`,`{"a.0":{"$elemMatch":{"$gt":1}}}`},
{`{"a":[[1,2]]}`,`{"a.0":{"$size":2}}`},
{`{"a":{"0":[1]}}`,`{"a.0":{"$size":1}}`},
	} {
		c.DeleteMany(t.Context(), j(`{}`))
		must[*mongo.InsertOneResult](t)(c.InsertOne(t.Context(), j("%s", x[0])))
		n, err := c.CountDocuments(t.Context(), j("%s", x[1]))
		fmt.Println(x[0], x[1], n, err)
	}
}
