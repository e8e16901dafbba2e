package couchbase_test

import "fmt"

func ExampleCouchbaseList() {
	c, end := exampleCollection()
	defer end()
	list := c.List("list")
	ok(list.Append("b"))
	ok(list.Prepend("a"))
	var first string
	ok(list.At(0, &first))
	all, err := list.Iterator()
	ok(err)
	fmt.Println(first, all)
	// Output:
	// a [a b]
}

func ExampleCouchbaseMap() {
	c, end := exampleCollection()
	defer end()
	capitals := c.Map("capitals")
	ok(capitals.Add("fr", "Paris"))
	ok(capitals.Add("it", "Rome"))
	ok(capitals.Remove("it"))
	var capital string
	ok(capitals.At("fr", &capital))
	size, err := capitals.Size()
	ok(err)
	fmt.Println(capital, size)
	// Output:
	// Paris 1
}

// Pop takes the element that was pushed first.
func ExampleCouchbaseQueue() {
	c, end := exampleCollection()
	defer end()
	queue := c.Queue("jobs")
	ok(queue.Push("first"))
	ok(queue.Push("second"))
	var job string
	ok(queue.Pop(&job))
	fmt.Println(job)
	// Output:
	// first
}

func ExampleCouchbaseSet() {
	c, end := exampleCollection()
	defer end()
	tags := c.Set("tags")
	ok(tags.Add("red"))
	contains, err := tags.Contains("red")
	ok(err)
	ok(tags.Remove("red"))
	size, err := tags.Size()
	ok(err)
	fmt.Println(contains, size)
	// Output:
	// true 0
}
