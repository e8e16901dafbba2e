package retry_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/holdfast-db/holdfast/retry"
)

// A transaction that met a conflict is done again. After any other error it is not: it may have been committed.
func ExampleEngine_Do_sqlTransaction() {
	db := sql.OpenDB(&conflictOnce{})
	defer db.Close()

	engine, err := retry.New(retry.Options{Strategy: retry.Limited(5, retry.BestEffort(retry.BackoffOptions{}))})
	if err != nil {
		fmt.Println(err)
		return
	}
	attempts := 0
	err = engine.Do(context.Background(), retry.Operation{}, func(ctx context.Context, n int) retry.Failure {
		attempts = n + 1
		err := withdraw(ctx, db, 10)
		if errors.Is(err, errSerialization) {
			return retry.Failure{Err: err, Stage: retry.StageAnswered, Reason: retry.ReasonConflict}
		}
		return retry.Failure{Err: err} // a success if err is nil; else in flight, for an unknown reason
	})
	fmt.Println(attempts, "attempts:", err)
	// Output: 2 attempts: <nil>
}

func withdraw(ctx context.Context, db *sql.DB, amount int) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() // after a commit it does nothing
	if _, err := tx.ExecContext(ctx, fmt.Sprintf("UPDATE accounts SET balance = balance - %d WHERE id = 1", amount)); err != nil {
		return err
	}
	return tx.Commit()
}

var errSerialization = errors.New("could not serialize access")

// conflictOnce is a database whose first commit meets a conflict.
type conflictOnce struct{ commits atomic.Int32 }

func (c *conflictOnce) Connect(context.Context) (driver.Conn, error) { return c, nil }
func (c *conflictOnce) Driver() driver.Driver                        { return nil }
func (c *conflictOnce) Prepare(string) (driver.Stmt, error)          { return c, nil }
func (c *conflictOnce) Close() error                                 { return nil }
func (c *conflictOnce) Begin() (driver.Tx, error)                    { return c, nil }
func (c *conflictOnce) NumInput() int                                { return 0 }
func (c *conflictOnce) Query([]driver.Value) (driver.Rows, error)    { return nil, driver.ErrSkip }
func (c *conflictOnce) Rollback() error                              { return nil }

func (c *conflictOnce) Exec([]driver.Value) (driver.Result, error) {
	return driver.RowsAffected(1), nil
}

func (c *conflictOnce) Commit() error {
	if c.commits.Add(1) == 1 {
		return errSerialization
	}
	return nil
}
