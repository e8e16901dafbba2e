package query_test

const (
	refused   = "refused by name"
	optimizer = "the real server evaluates constant expressions when it parses them: the hooks of these tests do not"
	twice     = "the real server drops the first of two fields of the same name"
)

// differences are the cases whose answer is not the real server's, each with its reason.
var differences = map[string]string{
	`refusals {"filter": {"$sampleRate": 2}}`:                                       refused,
	`refusals {"filter": {"$where": "1"}}`:                                          refused,
	`refusals {"filter": {"$text": {"$search": "x"}}}`:                              refused,
	`refusals {"filter": {"a": {"$geoWithin": {"$center": [[1, 2], 3]}}}}`:          refused,
	`operators {"filter": {"a": {"$regex": "x(?=y)"}}}`:                             refused + ": Go has no look-around",
	`operators {"filter": {"a": {"$regex": "(x)\\1"}}}`:                             refused + ": Go has no back references",
	`projections {"projection": {"n": {"$meta": "textScore"}}}`:                     refused,
	`projections {"projection": {"n": {"$meta": "frob"}}}`:                          refused,
	`projections {"projection": {"n": {"$meta": "sortKey"}}}`:                       refused,
	`sort refusals {"sort": {"a": {"$meta": "textScore"}}}`:                         refused,
	`schema refusals {"filter": {"$jsonSchema": {"encrypt": {}}}}`:                  refused,
	`projections {"projection": {"zz": {"$divide": [1, 0]}}}`:                       optimizer,
	`projections {"filter": {"$expr": {"$divide": [1, 0]}}}`:                        optimizer,
	`projections {"projection": {"a": {"$slice": [1, 0]}}}`:                         optimizer,
	`projections {"projection": {"a": {"$slice": [1, 2, 3]}}}`:                      optimizer,
	`projections {"projection": {"a": {"$slice": ["x", 2]}}}`:                       optimizer,
	`projections {"projection": {"a": {"$slice": 2}, "a": 1}}`:                      twice,
	`nested projections {"projection": {"l": 1, "l": {"$elemMatch": {"x": 4}}}}`:    twice,
	`updates {"q": {}, "u": {"$set": {"a.01": 1}}}`:                                 "the real server takes 01 for the index 1 in an update, though not in a filter",
	`arrays {"q": {"$jsonSchema": {"required": ["a"]}}, "u": {"$set": {"a.$": 0}}}`: "a schema does not say by which element it is met",
	`updates {"q": {}, "u": {"$set": {"$ref": 1}}}`:                                 "the types of a DBRef's fields are not checked",
}
