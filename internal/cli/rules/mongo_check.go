package rules

import (
	"errors"
	"fmt"
)

// Check returns an error that says why the case cannot happen.
func (c *MongoCase) Check() error {
	o, transactions := &c.Operation, c.Server != Standalone && c.Server != WithoutSessions
	replied := c.Failure.Kind == MongoReply || c.Failure.Kind == MongoWriteConcern || c.Failure.Kind == MongoWriteErrors
	switch {
	case c.InTransaction && o.kind == mongoEnd:
		return fmt.Errorf("%s ends a transaction and does not belong to it", o.Name)
	case !transactions && (c.InTransaction || o.kind == mongoEnd):
		return fmt.Errorf("a server of the kind %s has no transactions", c.Server)
	case c.Unacknowledged && (o.kind != mongoWrite || c.InTransaction):
		return fmt.Errorf("%s cannot be unacknowledged; only a write outside a transaction can", o.Name)
	case c.Unacknowledged && replied:
		return fmt.Errorf("an unacknowledged %s has no reply, so it cannot fail with one", o.Name)
	case c.Failure.Kind == MongoWriteConcern && (o.kind == mongoRead || o.kind == mongoCommand):
		return fmt.Errorf("the reply to %s has no writeConcernError that the client looks at", o.Name)
	case c.Failure.Kind == MongoWriteErrors && o.kind != mongoWrite:
		return fmt.Errorf("the reply to %s has no writeErrors", o.Name)
	case c.InRequest && !o.MayBeInRequest():
		return fmt.Errorf("a request changes nothing for %s", o.Name)
	case c.InRequest && !c.isSet():
		return fmt.Errorf("a request changes nothing on a server of the kind %s", c.Server)
	case c.Before44 && c.Server == LoadBalanced:
		return errors.New("a server behind a load balancer is of version 5.0 or newer")
	}
	return nil
}

func (c *MongoCase) isSet() bool { return c.Server == ReplicaSet || c.Server == WithoutSessions }
