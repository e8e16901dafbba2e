package mongotest

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/account"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// cmdAuthenticate is MONGODB-X509: the certificate of the connection's other end proves who it is.
func cmdAuthenticate(x *exec) error {
	if mechanism := query.Lookup(x.Command.Raw, "mechanism"); string(mechanism.Text()) != account.X509 {
		return mongoerr.Errorf(mongoerr.BadValue, "Auth mechanism %s is not supported by the authenticate command", mechanism.Text())
	}
	subject, err := certified(x, x.Command.Raw, x.Command.DB)
	if err != nil {
		return err
	}
	dst := wire.AppendString(x.Result.Out, "dbname", account.External)
	x.Result.Out = wire.AppendString(dst, "user", subject)
	return nil
}

// certified logs in by the certificate, and returns its subject.
func certified(x *exec, doc []byte, db string) (string, error) {
	subject := x.conn.subject()
	name := query.Lookup(doc, "user")
	switch {
	case db != account.External:
		return "", mongoerr.Errorf(mongoerr.BadValue, "X.509 authentication must always use the $external database.")
	case subject == "":
		return "", errAuthentication
	case name.Type == bson.TypeString && string(name.Text()) != subject:
		return "", errAuthentication
	}
	x.conn.login(account.External, subject)
	if x.conn.User == nil {
		return "", mongoerr.Errorf(mongoerr.UserNotFound, "Could not find user %q for db %q", subject, account.External)
	}
	return subject, nil
}
