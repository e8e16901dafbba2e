package couchbase

// For those who change the client.
//
//   - open.go and settings.go turn the connection string (connectionstring.go) and the options into configurations, and check all
//     of them before any use of the network. An option is supported or an error: options_test.go has the table.
//   - The lifecycle of a Get: get.go checks the arguments and describes the operation as a kvCall (kvcall.go), which comes from a
//     pool and holds request, result, key and extras; kvCall.run calls operation.Runner.Run; kvanswer.go reads the answer,
//     kvfailure.go turns an error into gocb's types. A call whose operation failed is not given back: the error has parts of it.
//   - The inner error of a KeyValueError or TimeoutError is a failure: it prints as the sentinel, and errors.Is and errors.As
//     find the sentinels, the cause and the *retry.Error with the history below it.
//   - A custom strategy gets one requestStrategy for each operation (retryrequest.go): it holds the caller's context and the
//     operation's id. The default strategy is the engine's own and costs nothing.
//   - kvtrace.go: with the default tracer and meter an operation makes no spans; it is measured, and joins the threshold report
//     if it was slow. Reports (report.go, loggingmeter.go) have a timer only while there is something to report, and no
//     goroutine.
//   - observe.go waits for the copies that PersistTo and ReplicateTo ask for; durability levels are the server's.
//   - httpservices.go is the way of the operations on HTTP services; management.go and managementchange.go are those of the
//     cluster manager.
