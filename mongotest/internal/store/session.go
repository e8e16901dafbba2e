package store

// statement is a session's record of one executed statement of its newest transaction number.
type statement struct {
	*SessionRef
	entry *Entry
	prev  *statement // an earlier one of the same number
}

// Session is the record that the log has of a session.
type Session struct {
	Key    string
	Active int64 // the highest transaction number that began, even if it changed nothing
	head   *statement
	byStmt map[int32]*Entry // what head's transaction number executed; nil if not known yet
}

// record notes that an entry executed a statement of the session.
func (s *Session) record(e *Entry) {
	head := &statement{SessionRef: e.Session, entry: e}
	if s.head != nil && s.head.Txn == e.Session.Txn {
		head.prev = s.head
	} else {
		s.byStmt = nil
	}
	s.head = head
	if s.byStmt != nil {
		s.byStmt[e.Session.Stmt] = e
	}
	s.Active = max(s.Active, e.Session.Txn)
}

// Executed returns the entry of a statement that was executed before, nil if there is none.
func (s *Session) Executed(txn int64, stmt int32) *Entry {
	if s.head == nil || s.head.Txn != txn {
		return nil
	}
	if s.byStmt == nil {
		s.byStmt = make(map[int32]*Entry)
		for r := s.head; r != nil; r = r.prev {
			if s.byStmt[r.Stmt] == nil {
				s.byStmt[r.Stmt] = r.entry
			}
		}
	}
	return s.byStmt[stmt]
}

// undo goes back to the record that was the newest before.
func (s *Session) undo(previous *statement) {
	s.head, s.Active, s.byStmt = previous, 0, nil
	if previous != nil {
		s.Active = previous.Txn
	}
}

// Committed reports whether a transaction is known to have been committed, here or by an earlier primary.
func (s *Session) Committed(txn int64) bool { return s.Executed(txn, Committing) != nil }

// SessionRef makes an entry of the log the record of a retryable statement, or of a transaction that was committed.
type SessionRef struct {
	LSID string
	Txn  int64
	Stmt int32
}

// Committing stands for a transaction's commit where a statement's number is expected.
const Committing int32 = -2
