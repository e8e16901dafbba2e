package pipeline

import "strings"

// The texts of the cases are extended JSON. "$name" is a field that holds the input of that name, "@name" the input itself. An array
// of one {"@each": x} has many elements x, a document of one field with a "#" in its name many fields; each "#" inside is a number.

// ofElements are the operators that take nothing that grows: they are applied to each element of an array.
var ofElements = map[string]string{
	"ints": `$abs $acos $acosh $asin $asinh $atan $atanh $bitNot $ceil $cos $cosh $degreesToRadians $exp $floor $isArray $isNumber $ln $log10
		$not $radiansToDegrees $round $sigmoid $sin $sinh $sqrt $tan $tanh $toBool $toDecimal $toDouble $toInt $toLong $toString
		$trunc $type $toLower $toUpper`,
	"two": "$atan2 $divide $log $mod $pow $subtract $cmp",
}

// ofDates are the operators of one date.
const ofDates = "$dateToParts $dayOfMonth $dayOfWeek $dayOfYear $hour $isoDayOfWeek $isoWeek $isoWeekYear $millisecond $minute $month $second $week $year"

// ofArguments are the operators that take any number of arguments.
const ofArguments = "$add $multiply $and $or $bitAnd $bitOr $bitXor $sum $avg $min $max $stdDevPop $stdDevSamp $ifNull $setEquals"

// ofAnything are the operators that look at values of any size.
const ofAnything = "$cmp $eq $ne $gt $gte $lt $lte"

// growthExpressions has the cases of the operators of expressions that the lists above do not have, or not alone.
var growthExpressions = map[string][]string{
	"$allElementsTrue": {`{"$allElementsTrue": ["$yes"]}`},
	"$anyElementTrue":  {`{"$anyElementTrue": ["$no"]}`},
	"$arrayElemAt":     {`{"$arrayElemAt": ["$ints", -1]}`, `{"$map": {"input": "$rising", "in": {"$arrayElemAt": ["$rising", "$$this"]}}}`},
	"$arrayToObject": {
		`{"$arrayToObject": ["$pairs"]}`, `{"$arrayToObject": ["$fields"]}`,
		`{"$arrayToObject": [{"$map": {"input": "$ints", "in": ["k", "$$this"]}}]}`,
	},
	"$binarySize":   {`{"$binarySize": "$binary"}`, `{"$binarySize": "$same"}`},
	"$bsonSize":     {`{"$bsonSize": "$object"}`, `{"$bsonSize": "$deep"}`},
	"$concat":       {`{"$concat": ["$same", "$letters"]}`, `{"$concat": [{"@each": "a"}]}`, `{"$concat": [{"@each": "$$ROOT.x"}]}`},
	"$concatArrays": {`{"$concatArrays": ["$ints", "$texts"]}`, `{"$concatArrays": [{"@each": ["$_id"]}]}`},
	"$cond":         {`{"$map": {"input": "$ints", "in": {"$cond": ["$$this", 1, 2]}}}`},
	"$const":        {`{"$const": "@object"}`},
	"$convert": {
		`{"$convert": {"input": "$digits", "to": "decimal", "onError": 1}}`, `{"$convert": {"input": "$zeros", "to": "int"}}`,
		`{"$convert": {"input": "$base64", "to": "binData", "format": "base64"}}`, `{"$convert": {"input": "$hex", "to": "binData", "format": "hex"}}`,
		`{"$convert": {"input": "$binary", "to": "string", "format": "base64"}}`, `{"$convert": {"input": "$binary", "to": "string", "format": "hex"}}`,
		`{"$convert": {"input": "$binary", "to": "int", "onError": 1}}`, `{"$convert": {"input": "$digits", "to": "double", "onError": 1}}`,
		`{"$convert": {"input": "$digits", "to": "date", "onError": 1}}`, `{"$convert": {"input": "$digits", "to": "objectId", "onError": 1}}`,
	},
	"$createObjectId": {`{"$map": {"input": "$ints", "in": {"$createObjectId": {}}}}`},
	"$currentDate":    {`{"$map": {"input": "$ints", "in": {"$currentDate": {}}}}`},
	"$dateAdd":        {dates(`{"$dateAdd": {"startDate": "$$d", "unit": "month", "amount": 1}}`), `{"$dateAdd": {"startDate": "$$NOW", "unit": "year", "amount": "$count"}}`},
	"$dateDiff": {
		dates(`{"$dateDiff": {"startDate": "$$d", "endDate": "$$NOW", "unit": "month"}}`),
		dates(`{"$dateDiff": {"startDate": "$$d", "endDate": "$$NOW", "unit": "day", "timezone": "Europe/Paris"}}`),
	},
	"$dateFromParts": {`{"$map": {"input": "$ints", "in": {"$dateFromParts": {"year": 2000, "day": {"$mod": ["$$this", 366]}}}}}`},
	"$dateFromString": {
		`{"$dateFromString": {"dateString": "$digits", "onError": 1}}`, `{"$dateFromString": {"dateString": "$letters", "onError": 1}}`,
		`{"$dateFromString": {"dateString": "$spaces", "onError": 1}}`, `{"$dateFromString": {"dateString": "$digits", "format": "$years", "onError": 1}}`,
		`{"$dateFromString": {"dateString": "$percent", "format": "$percent", "onError": 1}}`,
		`{"$dateFromString": {"dateString": "$same", "format": "$same", "onError": 1}}`,
	},
	"$dateSubtract":  {dates(`{"$dateSubtract": {"startDate": "$$d", "unit": "week", "amount": 1}}`)},
	"$dateToString":  {`{"$dateToString": {"date": "$$NOW", "format": "$years"}}`, `{"$dateToString": {"date": "$$NOW", "format": "$percent"}}`},
	"$dateTrunc":     {dates(`{"$dateTrunc": {"date": "$$d", "unit": "week", "binSize": 3}}`), dates(`{"$dateTrunc": {"date": "$$d", "unit": "month"}}`)},
	"$expr":          {`{"$expr": "$object"}`},
	"$filter":        {`{"$filter": {"input": "$ints", "cond": {"$gt": ["$$this", 3]}}}`, `{"$filter": {"input": "$ints", "cond": false}}`},
	"$first":         {`{"$first": "$ints"}`},
	"$firstN":        {`{"$firstN": {"n": "$count", "input": "$ints"}}`},
	"$getField":      {`{"$getField": {"field": "none", "input": "$object"}}`, `{"k#": "$object.k#"}`},
	"$in":            {`{"$in": [-1, "$ints"]}`, `{"$in": ["$same", "$texts"]}`},
	"$indexOfArray":  {`{"$indexOfArray": ["$ints", -1]}`},
	"$indexOfBytes":  {`{"$indexOfBytes": ["$same", "$halfB"]}`, `{"$indexOfBytes": ["$same", "b"]}`, `{"$indexOfBytes": ["$letters", "aaaaaaa"]}`},
	"$indexOfCP":     {`{"$indexOfCP": ["$same", "b"]}`, `{"$indexOfCP": ["$same", "$halfB"]}`, `{"$indexOfCP": ["$wide", "b", 5]}`},
	"$last":          {`{"$last": "$ints"}`},
	"$lastN":         {`{"$lastN": {"n": "$count", "input": "$ints"}}`},
	"$let":           {`{"$let": {"vars": {"v#": 1}, "in": "$$v0"}}`, `{"$let": {"vars": {"v#": "$_id"}, "in": {"r#": "$$v#"}}}`},
	"$literal":       {`{"$literal": "@object"}`, `{"k#": {"$literal": 1}}`, `[{"@each": "$_id"}]`},
	"$ltrim":         {`{"$ltrim": {"input": "$spaces"}}`, `{"$ltrim": {"input": "$same", "chars": "$wide"}}`},
	"$map":           {`{"$map": {"input": "$ints", "in": "$$this"}}`, `{"$map": {"input": "$object.x", "in": 1}}`},
	"$maxN":          {`{"$maxN": {"n": "$count", "input": "$ints"}}`, `{"$maxN": {"n": 5, "input": "$rising"}}`, `{"$maxN": {"n": "$count", "input": "$equal"}}`},
	"$median":        {`{"$median": {"input": "$ints", "method": "approximate"}}`},
	"$mergeObjects":  {`{"$mergeObjects": "$singles"}`, `{"$mergeObjects": ["$object", "$object"]}`, `{"$mergeObjects": [{"@each": {"k#": "$_id"}}]}`},
	"$meta":          {`{"$map": {"input": "$ints", "in": {"$meta": "textScore"}}}`},
	"$minN":          {`{"$minN": {"n": "$count", "input": "$ints"}}`},
	"$objectToArray": {`{"$objectToArray": "$object"}`},
	"$percentile":    {`{"$percentile": {"input": "$ints", "p": [0.5, 0.9], "method": "approximate"}}`, `{"$percentile": {"input": "$ints", "p": "@yes", "method": "approximate"}}`},
	"$function":      {`{"$function": {"body": "function(a) { return a.concat([a.length]) }", "args": ["$ints"], "lang": "js"}}`},
	"$rand":          {`{"$map": {"input": "$ints", "in": {"$rand": {}}}}`},
	"$range":         {`{"$range": [0, "$count"]}`},
	"$reduce": {
		`{"$reduce": {"input": "$ints", "initialValue": 0, "in": {"$add": ["$$value", "$$this"]}}}`,
		`{"$reduce": {"input": "$texts", "initialValue": "", "in": "$$this"}}`,
	},
	"$regexFind": {`{"$regexFind": {"input": "$same", "regex": "b"}}`, `{"$regexFind": {"input": "$wide", "regex": "x$"}}`},
	"$regexFindAll": {
		`{"$regexFindAll": {"input": "$same", "regex": "a"}}`, `{"$regexFindAll": {"input": "$wide", "regex": "(.)"}}`,
		`{"$regexFindAll": {"input": "$same", "regex": "b"}}`, `{"$regexFindAll": {"input": "$letters", "regex": "\\b|a"}}`,
		`{"$regexFindAll": {"input": "$same", "regex": ""}}`, `{"$regexFindAll": {"input": "$same", "regex": "a(?=a)"}}`,
	},
	"$regexMatch": {
		`{"$regexMatch": {"input": "$same", "regex": "(a*)*b"}}`, `{"$regexMatch": {"input": "$letters", "regex": "(?i)zzzzzz"}}`,
		`!{"$regexMatch": {"input": "$same", "regex": "$cut"}}`, `!{"$regexMatch": {"input": "$cut", "regex": "a"}}`, `!{"$regexMatch": {"input": "$letters", "regex": "$letters"}}`,
	},
	"$replaceAll": {
		`{"$replaceAll": {"input": "$same", "find": "a", "replacement": "bc"}}`, `{"$replaceAll": {"input": "$same", "find": "", "replacement": "b"}}`,
		`{"$replaceAll": {"input": "$same", "find": {"$regularExpression": {"pattern": "a", "options": ""}}, "replacement": "bc"}}`,
		`{"$replaceAll": {"input": "$same", "find": "$halfB", "replacement": "b"}}`,
	},
	"$replaceOne": {
		`{"$replaceOne": {"input": "$same", "find": "b", "replacement": "c"}}`, `{"$replaceOne": {"input": "$same", "find": "$halfB", "replacement": "b"}}`,
		`{"$replaceOne": {"input": "$same", "find": {"$regularExpression": {"pattern": "b", "options": ""}}, "replacement": "bc"}}`,
	},
	"$reverseArray":    {`{"$reverseArray": "$ints"}`},
	"$rtrim":           {`{"$rtrim": {"input": "$spaces"}}`, `{"$rtrim": {"input": "$same", "chars": "ba"}}`},
	"$setDifference":   sets("$setDifference"),
	"$setEquals":       sets("$setEquals"),
	"$setIntersection": sets("$setIntersection"),
	"$setIsSubset":     sets("$setIsSubset"),
	"$setUnion":        append(sets("$setUnion"), `{"$setUnion": [{"@each": ["$_id", "#"]}]}`),
	"$setField":        {`{"$setField": {"field": "none", "input": "$object", "value": 1}}`},
	"$unsetField":      {`{"$unsetField": {"field": "k1", "input": "$object"}}`},
	"$size":            {`{"$size": "$ints"}`, `{"$map": {"input": "$ints", "in": {"$size": ["$ints"]}}}`},
	"$slice":           {`{"$slice": ["$ints", "$count"]}`, `{"$slice": ["$ints", 1, "$count"]}`},
	"$sortArray": {
		`{"$sortArray": {"input": "$ints", "sortBy": 1}}`, `{"$sortArray": {"input": "$equal", "sortBy": -1}}`,
		`{"$sortArray": {"input": "$documents", "sortBy": {"k": 1, "v": -1}}}`, `{"$sortArray": {"input": "$texts", "sortBy": 1}}`,
		`{"$sortArray": {"input": "$arrays", "sortBy": 1}}`,
	},
	"$split": {
		`{"$split": ["$same", "a"]}`, `{"$split": ["$same", "b"]}`, `{"$split": ["$same", "$halfB"]}`,
		`{"$split": ["$same", {"$regularExpression": {"pattern": "a", "options": ""}}]}`,
		`{"$split": ["$same", {"$regularExpression": {"pattern": "", "options": ""}}]}`,
	},
	"$strLenBytes": {`{"$strLenBytes": "$same"}`},
	"$strLenCP":    {`{"$strLenCP": "$wide"}`},
	"$strcasecmp":  {`{"$strcasecmp": ["$same", "$same"]}`},
	"$substr":      {`{"$substr": ["$same", 1, "$count"]}`},
	"$substrBytes": {`{"$substrBytes": ["$same", 1, "$count"]}`},
	"$substrCP":    {`{"$substrCP": ["$wide", 1, "$count"]}`, `{"$substrCP": ["$same", "$count", "$count"]}`},
	"$subtype":     {`{"$subtype": "$binary"}`},
	"$switch": {
		`{"$map": {"input": "$ints", "in": {"$switch": {"branches": [{"case": "$$this", "then": 1}], "default": 2}}}}`,
		`{"$switch": {"branches": [{"@each": {"case": {"$eq": ["$_id", 2]}, "then": 1}}], "default": 3}}`,
	},
	"$toBool":      {`{"$toBool": "$same"}`},
	"$toDate":      {`!{"$toDate": "$digits"}`},
	"$toDecimal":   {`!{"$toDecimal": "$digits"}`, `!{"$toDecimal": "$letters"}`, `{"$toDecimal": "$zeros"}`},
	"$toDouble":    {`!{"$toDouble": "$digits"}`, `{"$toDouble": "$zeros"}`},
	"$toInt":       {`!{"$toInt": "$digits"}`},
	"$toLong":      {`{"$toLong": "$zeros"}`},
	"$toLower":     {`{"$toLower": "$same"}`},
	"$toObjectId":  {`!{"$toObjectId": "$hex"}`},
	"$toString":    {`{"$toString": "$same"}`, `{"$toString": "$object"}`, `{"$toString": "$deep"}`, `{"$toString": "$documents"}`, `{"$toString": "$binary"}`},
	"$toUUID":      {`!{"$toUUID": "$hex"}`},
	"$toUpper":     {`{"$toUpper": "$same"}`},
	"$trim":        {`{"$trim": {"input": "$spaces"}}`, `{"$trim": {"input": "$same", "chars": "$wide"}}`, `{"$trim": {"input": "$letters", "chars": "abcdefghijklmnopqrstuvwxyz"}}`},
	"$tsIncrement": {`{"$map": {"input": "$ints", "in": {"$tsIncrement": {"$timestamp": {"t": 1, "i": 2}}}}}`},
	"$tsSecond":    {`{"$map": {"input": "$ints", "in": {"$tsSecond": {"$timestamp": {"t": 1, "i": 2}}}}}`},
	"$zip": {
		`{"$zip": {"inputs": ["$ints", "$texts"]}}`, `{"$zip": {"inputs": ["$ints", "$pairs"], "useLongestLength": true, "defaults": [1, 2]}}`,
		`{"$zip": {"inputs": [{"@each": [1]}]}}`,
	},
}

// dates applies an expression of the variable d to many dates.
func dates(e string) string {
	return `{"$map": {"input": "$ints", "in": {"$let": {"vars": {"d": {"$toDate": {"$toLong": {"$multiply": ["$$this", 86400001]}}}}, "in": ` + e + `}}}}`
}

func sets(name string) []string {
	var cases []string
	for _, pair := range []string{`"$ints", "$rising"`, `"$equal", "$equal"`, `"$texts", "$texts"`, `"$rising", "$no"`, `"$documents", "$documents"`, `"$arrays", "$ints"`} {
		cases = append(cases, `{"`+name+`": [`+pair+`]}`)
	}
	return cases
}

// allExpressions returns the cases of each operator.
func allExpressions() map[string][]string {
	all := make(map[string][]string)
	for name, cases := range growthExpressions {
		all[name] = append(all[name], cases...)
	}
	for _, name := range strings.Fields(ofElements["ints"]) {
		all[name] = append(all[name], `{"$map": {"input": "$rising", "in": {"`+name+`": {"$sum": [1, {"$multiply": ["$$this", 0]}]}}}}`)
	}
	for _, name := range strings.Fields(ofElements["two"]) {
		all[name] = append(all[name], `{"$map": {"input": "$rising", "in": {"`+name+`": [{"$add": ["$$this", 2]}, 3]}}}`)
	}
	for _, name := range strings.Fields(ofDates) {
		all[name] = append(all[name], dates(`{"`+name+`": {"date": "$$d", "timezone": "Europe/Paris"}}`))
	}
	for _, name := range strings.Fields(ofArguments) {
		switch name {
		case "$setEquals":
			all[name] = append(all[name], `{"$setEquals": [{"@each": ["$_id"]}]}`)
		default:
			all[name] = append(all[name], `{"`+name+`": [{"@each": "$_id"}]}`, `{"`+name+`": [{"@each": 1}]}`)
		}
	}
	for _, name := range strings.Fields("$sum $avg $min $max $stdDevPop $stdDevSamp") {
		all[name] = append(all[name], `{"`+name+`": "$ints"}`, `{"`+name+`": "$doubles"}`, `{"`+name+`": "$texts"}`)
	}
	for _, name := range strings.Fields(ofAnything) {
		all[name] = append(all[name], `{"`+name+`": ["$same", "$same"]}`, `{"`+name+`": ["$object", "$object"]}`, `{"`+name+`": ["$deep", "$deep"]}`)
	}
	return all
}

// growthAccumulators has the arguments of each accumulator, over many documents.
var growthAccumulators = map[string][]string{
	"$addToSet": {`"$a"`, `"$g"`, `["$a"]`, `{"x": "$t"}`}, "$avg": {`"$a"`}, "$count": {`{}`},
	"$bottom":  {`{"sortBy": {"a": 1}, "output": "$a"}`, `{"sortBy": {"g": 1}, "output": "$a"}`},
	"$bottomN": {`{"n": 1000000, "sortBy": {"g": 1, "t": -1}, "output": "$a"}`, `{"n": 5, "sortBy": {"a": 1}, "output": "$a"}`},
	"$top":     {`{"sortBy": {"a": 1}, "output": "$a"}`}, "$topN": {`{"n": 1000000, "sortBy": {"a": 1}, "output": "$a"}`, `{"n": 7, "sortBy": {"a": -1}, "output": "$a"}`},
	"$concatArrays": {`["$a", "$g"]`, `["$o"]`}, "$first": {`"$a"`}, "$last": {`"$a"`},
	"$firstN": {`{"n": 1000000, "input": "$a"}`, `{"n": 3, "input": "$a"}`}, "$lastN": {`{"n": 1000000, "input": "$a"}`, `{"n": 3, "input": "$a"}`},
	"$max": {`"$a"`, `"$_id"`}, "$min": {`"$a"`}, "$maxN": {`{"n": 1000000, "input": "$a"}`, `{"n": 3, "input": "$_id"}`}, "$minN": {`{"n": 1000000, "input": "$a"}`},
	"$median": {`{"input": "$a", "method": "approximate"}`}, "$percentile": {`{"input": "$a", "p": [0.1, 0.9], "method": "approximate"}`},
	"$accumulator":  {`{"init": "function() { return 0 }", "accumulate": "function(n, a) { return n + a.length }", "accumulateArgs": ["$a"], "merge": "function(a, b) { return a + b }"}`},
	"$mergeObjects": {`{"$arrayToObject": [[["$t", 1]]]}`, `"$$ROOT"`}, "$push": {`"$a"`, `"$$ROOT"`},
	"$setUnion": {`["$a", "$g"]`, `["$t"]`}, "$stdDevPop": {`"$a"`}, "$stdDevSamp": {`"$a"`}, "$sum": {`"$a"`, `{"$add": ["$a", 0.5]}`, `{"$toDecimal": "$a"}`},
}

// growthFunctions has the arguments of each window function that is no accumulator.
var growthFunctions = map[string]string{
	"$covariancePop": `["$a", "$_id"]`, "$covarianceSamp": `["$a", "$_id"]`, "$denseRank": `{}`, "$documentNumber": `{}`, "$rank": `{}`,
	"$derivative": `{"input": "$a"}`, "$expMovingAvg": `{"input": "$a", "N": 5}`, "$integral": `{"input": "$a"}`, "$linearFill": `"$n"`,
	"$locf": `"$n"`, "$minMaxScaler": `{"input": "$a"}`, "$shift": `{"output": "$a", "by": -1}`,
}

// growthWindows are the windows in which a function is computed; some have half of the documents. The result of some functions has all values of
// the window, for each document: what is asked for is itself a square, so that they have only the windows of a fixed size.
var growthWindows = []string{
	``, `, "window": {"documents": ["unbounded", "unbounded"]}`, `, "window": {"documents": [-3, 2]}`, `, "window": {"range": [-3, 2]}`,
	`, "window": {"documents": ["@minusHalf", "@half"]}`, `, "window": {"range": ["@minusHalf", "@half"]}`, `, "window": {"documents": ["current", "unbounded"]}`,
	`, "window": {"documents": ["unbounded", "current"]}`, `, "window": {"range": ["unbounded", "current"]}`,
}

// allValues are the functions whose result has all values of a window.
const allValues = "$addToSet $push $concatArrays $setUnion $firstN $lastN $minN $maxN $topN $bottomN $mergeObjects"

// growthFilters has filters of one document for each operator.
var growthFilters = map[string][]string{
	"$all":         {`{"ints": {"$all": "@ints"}}`, `{"ints": {"$all": [-1, 3]}}`, `{"texts": {"$all": "@texts"}}`},
	"$alwaysFalse": {`{"$alwaysFalse": 1}`}, "$alwaysTrue": {`{"$alwaysTrue": 1}`}, "$comment": {`{"$comment": "@same"}`},
	"$and": {`{"$and": [{"@each": {"_id": {"$lt": 7}}}]}`, `{"$and": [{"@each": {"_id": 1}}]}`}, "$nor": {`{"$nor": [{"@each": {"_id": {"$gt": 7}}}]}`},
	"$or":           {`{"$or": [{"@each": {"_id": {"$gt": 7}}}]}`, `{"$or": [{"@each": {"_id": "x#"}}]}`},
	"$bitsAllClear": {`{"ints": {"$bitsAllClear": 128}}`, `{"binary": {"$bitsAllClear": "@positions"}}`}, "$bitsAllSet": {`{"binary": {"$bitsAllSet": [1, 5]}}`},
	"$bitsAnyClear": {`{"binary": {"$bitsAnyClear": "@positions"}}`}, "$bitsAnySet": {`{"binary": {"$bitsAnySet": "@binary"}}`},
	"$geoWithin":     {`{"ints": {"$geoWithin": {"$box": [[0, 0], [1, 1]]}}}`, `{"documents": {"$geoWithin": {"$centerSphere": [[0, 0], 1]}}}`},
	"$within":        {`{"ints": {"$within": {"$center": [[0, 0], 1]}}}`},
	"$geoIntersects": {`{"documents": {"$geoIntersects": {"$geometry": {"type": "Point", "coordinates": [1, 1]}}}}`},
	"$near":          {`{"ints": {"$near": [1, 2]}}`, `{"arrays": {"$near": [1, 2]}}`, `{"documents.k": {"$near": [1, 2]}}`},
	"$nearSphere":    {`{"arrays": {"$nearSphere": [1, 2]}}`}, "$geoNear": {`{"documents": {"$geoNear": [1, 2]}}`},
	"$text": {
		`{"letters": {"$ne": 1}, "$text": {"$search": "zebra"}}`, `{"same": {"$ne": 1}, "$text": {"$search": "zebra"}}`, `{"spaces": {"$ne": 1}, "$text": {"$search": "@spaces"}}`,
		`{"texts": {"$ne": 1}, "$text": {"$search": "t1 \"t2\" -t3", "$caseSensitive": true}}`, `{"texts": {"$ne": 1}, "$text": {"$search": "@letters", "$diacriticSensitive": true}}`,
		`{"texts": {"$ne": 1}, "$text": {"$search": "@same"}}`, `{"digits": {"$ne": 1}, "$text": {"$search": "@digits"}}`,
	},
	"$elemMatch": {`{"documents": {"$elemMatch": {"k": 7, "v": -1}}}`, `{"ints": {"$elemMatch": {"$gt": 5, "$lt": 5}}}`},
	"$eq":        {`{"object": {"$eq": "@object"}}`, `{"deep": {"$eq": "@deep"}}`, `{"ints": {"$eq": -1}}`, `{"documents.v": {"$eq": -1}}`, `{"arrays": {"$eq": "@arrays"}}`},
	"$ne":        {`{"ints": {"$ne": -1}}`}, "$gt": {`{"ints": {"$gt": 1e9}}`}, "$gte": {`{"ints": {"$gte": 1e9}}`}, "$lt": {`{"texts": {"$lt": "a"}}`},
	"$lte": {`{"same": {"$lte": "@same"}}`}, "$exists": {`{"documents.x": {"$exists": true}}`}, "$expr": {`{"$expr": {"$in": [-1, "$ints"]}}`},
	"$in":  {`{"ints": {"$in": "@nulls"}}`, `{"_id": {"$in": "@ints"}}`, `{"ints": {"$in": "@texts"}}`, `{"ints": {"$in": "@more"}}`, `{"texts": {"$in": "@documents"}}`},
	"$nin": {`{"ints": {"$nin": "@more"}}`}, "$mod": {`{"ints": {"$mod": [1000000, 999999]}}`}, "$not": {`{"ints": {"$not": {"$gt": 1e9}}}`},
	"$regex": {`{"same": {"$regex": "(a*)*b"}}`, `{"letters": {"$regex": "q(?=z)"}}`, `{"same": {"$regex": "(?<=a)a++(?!a)"}}`, `{"texts": {"$regex": "q"}}`, `{"same": {"$regex": "a{99}b"}}`}, "$options": {`{"letters": {"$regex": "ZZZZZZZ", "$options": "i"}}`},
	"$size": {`{"ints": {"$size": 3}}`}, "$type": {`{"ints": {"$type": "string"}}`},
	"$jsonSchema": {`{"$jsonSchema": {"properties": {"ints": {"items": {"bsonType": "int"}}}}}`},
	"paths":       {`{"object.k#": {"$exists": false}}`, `{"deep.d.d.d.d.d.d.d.d.d.d.d.s": 1}`},
}

// growthSchemas has a schema of the field "v" and the input that it has, for each keyword.
var growthSchemas = map[string][2]string{
	"additionalItems":      {"ints", `{"items": [{"bsonType": "int"}], "additionalItems": {"bsonType": "int"}}`},
	"additionalProperties": {"object", `{"properties": {"k#": {}}, "additionalProperties": false}`},
	"allOf":                {"ints", `{"allOf": [{"@each": {"bsonType": "array"}}]}`}, "anyOf": {"ints", `{"anyOf": [{"@each": {"bsonType": "int"}}]}`},
	"oneOf": {"ints", `{"oneOf": [{"@each": {"bsonType": "int"}}]}`}, "not": {"ints", `{"not": {"items": {"bsonType": "int"}}}`},
	"bsonType": {"ints", `{"bsonType": "array"}`}, "type": {"ints", `{"type": "array"}`}, "description": {"ints", `{"description": "@same"}`}, "title": {"ints", `{"title": "@same"}`},
	"dependencies": {"object", `{"dependencies": {"k#": ["k1"]}}`}, "enum": {"ints", `{"items": {"enum": "@ints"}}`},
	"items": {"ints", `{"items": [{"@each": {"bsonType": "int"}}]}`}, "maxItems": {"ints", `{"maxItems": 5}`}, "minItems": {"ints", `{"minItems": 5}`},
	"maxLength": {"wide", `{"maxLength": 5}`}, "minLength": {"wide", `{"minLength": 5}`},
	"maxProperties": {"object", `{"maxProperties": 5}`}, "minProperties": {"object", `{"minProperties": 5}`},
	"maximum": {"ints", `{"items": {"maximum": 1e9}}`}, "exclusiveMaximum": {"ints", `{"items": {"maximum": 1e9, "exclusiveMaximum": true}}`},
	"minimum": {"ints", `{"items": {"minimum": 0}}`}, "exclusiveMinimum": {"ints", `{"items": {"minimum": -1, "exclusiveMinimum": true}}`},
	"multipleOf": {"ints", `{"items": {"multipleOf": 1}}`}, "pattern": {"same", `{"pattern": "(a*)*b"}`},
	"patternProperties": {"object", `{"patternProperties": {"^k": {"bsonType": "int"}}}`}, "properties": {"object", `{"properties": {"k#": {"bsonType": "int"}}}`},
	"required": {"object", `{"required": [{"@each": "k#"}]}`}, "uniqueItems": {"rising", `{"uniqueItems": true}`},
}

// growthUpdates has updates of one document for each operator; filters, if there are some, behind a "|".
var growthUpdates = map[string][]string{
	"$addToSet": {`{"ints": {"$each": "@more"}}`, `{"equal": {"$each": "@equal"}}`, `{"texts": {"$each": "@texts"}}`, `{"documents": {"$each": "@documents"}}`, `{"new": {"$each": "@more"}}`},
	"$bit":      {`{"k#": {"or": 1}}`}, "$currentDate": {`{"k#": true}`}, "$inc": {`{"k#": 1}`, `{"object.k#": 1}`, `{"rising.#": 1}`, `{"ints.$[]": 1}`, `{"ints.$[e]": 1}|[{"e": {"$gt": 3}}]`, `{"documents.$[].v": 1}`},
	"$max": {`{"object.k#": 5}`}, "$min": {`{"object.k#": 5}`}, "$mul": {`{"object.k#": 5}`},
	"$pop": {`{"ints": 1}`, `{"ints": -1}`}, "$pull": {`{"ints": {"$in": "@more"}}`, `{"ints": {"$in": "@ints"}}`, `{"ints": -1}`, `{"documents": {"k": 7}}`, `{"equal": 7}`, `{"ints": {"$gt": 1e9}}`},
	"$pullAll": {`{"ints": "@more"}`, `{"ints": "@ints"}`, `{"texts": "@texts"}`},
	"$push":    {`{"ints": {"$each": "@ints"}}`, `{"ints": {"$each": "@ints", "$sort": 1}}`, `{"documents": {"$each": "@documents", "$sort": {"k": 1, "v": 1}}}`, `{"ints": {"$each": "@ints", "$position": 0, "$slice": 7}}`},
	"$rename":  {`{"object.k#": "n.k#"}`}, "$set": {`{"object.k#": 1}`, `{"x.k#": 1}`, `{"rising.#": 1}`, `{"new": "@object"}`, `{"deep.d.d.d.d.d.d.x": 1}`, `{"documents.#.v": 1}`},
	"$setOnInsert": {`{"k#": 1}`}, "$unset": {`{"object.k#": 1}`, `{"rising.#": 1}`},
}

// growthProjections has projections of one document, with a filter behind a "|" for the positional ones.
var growthProjections = []string{
	`{"object.k#": 1}`, `{"object.k#": 0}`, `{"none#": 1}`, `{"object.k#": {"$add": ["$_id", 1]}}`, `{"object": {"k#": 1}}`,
	`{"ints": {"$slice": 3}}`, `{"ints": {"$slice": [1, 1000000]}}`, `{"documents": {"$elemMatch": {"v": -1}}}`, `{"documents.k": 1}`, `{"documents.v": 0}`,
	`{"ints.$": 1}|{"ints": {"$gt": 5}}`, `{"deep.d.d.d.d.d.s": 0}`,
}

// growthStages has stages over many documents for each stage, or over one with inputs if they are named. Behind a "|" is what
// each document becomes first.
var growthStages = map[string][]string{
	"$addFields": {`{"$limit": 1}, {"$addFields": {"x#": "$_id"}}`, `{"$addFields": {"object.k#": "$_id"}}`, `{"$addFields": {"b": 1}}`, `{"$addFields": {"documents.v": "$_id"}}`},
	"$set":       {`{"$limit": 1}, {"$set": {"x#": 1}}`}, "$unset": {`{"$unset": [{"@each": "x#"}]}`, `{"$unset": "documents.k"}`, `{"$unset": "t"}`},
	"$project": {`{"$project": {"object.k#": 1}}`, `{"$project": {"object.k#": 0}}`, `{"$project": {"x#": "$object.k#"}}`, `{"$project": {"documents.k": 1}}`, `{"$project": {"t": 1}}`},
	"$bucket":  {`{"$bucket": {"groupBy": "$a", "boundaries": [0, 5, 1000000]}}`, `{"$bucket": {"groupBy": "$a", "boundaries": "@rising", "default": -1}}`},
	"$bucketAuto": {
		`{"$bucketAuto": {"groupBy": "$a", "buckets": 7}}`, `{"$bucketAuto": {"groupBy": "$a", "buckets": 1000000}}`, `{"$bucketAuto": {"groupBy": "$g", "buckets": 1000000}}`,
		`{"$bucketAuto": {"groupBy": "$a", "buckets": 1000000, "granularity": "R5"}}`,
	},
	"$count": {`{"$count": "n"}`},
	"$densify": {
		`{"$densify": {"field": "a", "range": {"step": 1, "bounds": "full"}}}`, `{"$densify": {"field": "a", "partitionByFields": ["h"], "range": {"step": 5, "bounds": "partition"}}}`,
		`{"$densify": {"field": "a", "partitionByFields": ["t"], "range": {"step": 5, "bounds": "partition"}}}`,
	},
	"$documents": {`{"$documents": "@documents"}`},
	"$facet":     {`{"$facet": {"x": [{"$sort": {"a": 1}}], "y": [{"$count": "n"}]}}`, `{"$limit": 1}, {"$facet": {"x#": []}}`},
	"$fill":      {`{"$fill": {"sortBy": {"_id": 1}, "output": {"n": {"method": "locf"}}}}`, `{"$fill": {"sortBy": {"_id": 1}, "output": {"n": {"method": "linear"}}}}`, `{"$fill": {"output": {"n": {"value": 1}}}}`},
	"$graphLookup": {
		`{"$limit": 1}, {"$graphLookup": {"from": "c", "startWith": "$_id", "connectFromField": "next", "connectToField": "_id", "as": "r"}}`,
		`{"$limit": 1}, {"$graphLookup": {"from": "c", "startWith": "$g", "connectFromField": "g", "connectToField": "g", "as": "r"}}`,
	},
	"$group": {
		`{"$group": {"_id": "$a"}}`, `{"$group": {"_id": "$g"}}`, `{"$group": {"_id": ["$a", "$t"]}}`, `{"$group": {"_id": {"x": "$t", "y": "$h"}, "n": {"$sum": 1}}}`,
		`{"$limit": 1}, {"$group": {"_id": "$h", "n#": {"$sum": 1}}}`,
	},
	"$limit": {`{"$limit": 1000000}`}, "$skip": {`{"$skip": 1000}`},
	"$lookup": {
		`{"$lookup": {"from": "c", "localField": "a", "foreignField": "a", "as": "r"}}`, `{"$limit": 1}, {"$lookup": {"from": "c", "localField": "g", "foreignField": "g", "as": "r"}}`,
		`{"$limit": 1}, {"$lookup": {"from": "c", "let": {"x": "$g"}, "pipeline": [{"$match": {"$expr": {"$eq": ["$$x", "$g"]}}}], "as": "r"}}`,
		`{"$lookup": {"from": "c", "localField": "ints", "foreignField": "a", "as": "r"}}`,
	},
	"$match": {`{"$match": {"a": {"$gt": 7}}}`, `{"$match": {"x": 1}}`}, "$merge": {`{"$merge": "o"}`}, "$out": {`{"$out": "o"}`},
	"$redact":      {`{"$redact": {"$cond": [{"$eq": ["$k", 7]}, "$$DESCEND", "$$DESCEND"]}}`, `{"$match": {"documents": 1}}, {"$redact": "$$DESCEND"}`, `{"$match": {"deep": {"$ne": 1}}}, {"$redact": "$$DESCEND"}`, `{"$match": {"documents": {"$ne": 1}}}, {"$redact": "$$DESCEND"}`},
	"$replaceRoot": {`{"$replaceRoot": {"newRoot": {"x": "$$ROOT"}}}`, `{"$replaceRoot": {"newRoot": "$object"}}`}, "$replaceWith": {`{"$replaceWith": {"x": "$a"}}`},
	"$sample":      {`{"$sample": {"size": 1000000}}`, `{"$sample": {"size": 3}}`},
	"$sort":        {`{"$sort": {"a": 1}}`, `{"$sort": {"g": 1, "t": -1}}`, `{"$sort": {"g": 1}}`, `{"$sort": {"ints": 1}}`, `{"$sort": {"documents.v": 1}}`, `{"$sort": {"a": 1}}, {"$limit": 3}`},
	"$sortByCount": {`{"$sortByCount": "$a"}`, `{"$sortByCount": "$h"}`}, "$unionWith": {`{"$unionWith": "c"}`},
	"$unwind": {`{"$unwind": "$ints"}`, `{"$unwind": {"path": "$documents", "includeArrayIndex": "i"}}`, `{"$unwind": "$o"}`},
	"$setWindowFields": {
		`{"$setWindowFields": {"partitionBy": "$t", "sortBy": {"a": 1}, "output": {"n": {"$sum": "$a"}}}}`,
		`{"$setWindowFields": {"partitionBy": "$h", "sortBy": {"a": 1}, "output": {"n": {"$documentNumber": {}}}}}`,
	},
}

// ofServer are the stages whose work is not of this package.
const ofServer = `$changeStream $changeStreamSplitLargeEvent $collStats $currentOp $geoNear $indexStats $listCatalog $listClusterCatalog
	$listLocalSessions $listSampledQueries $listSearchIndexes $listSessions $planCacheStats $queryStats $rankFusion $score $scoreFusion $search
	$searchMeta $setMetadata $shardedDataDistribution $vectorSearch`
