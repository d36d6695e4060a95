// Package store keeps users.
package store

import (
	"context"
	"fmt"

	"github.com/acme/db"
)

// MaxUsers is how many there may be.
const MaxUsers = 100

var ErrNotFound = fmt.Errorf("not found")

// Store keeps users in a database.
type Store struct {
	conn *db.Conn
}

// Finder finds.
type Finder interface {
	Find(ctx context.Context, id string) (*User, error)
}

type UserID string

// New opens a store.
func New(dsn string) (*Store, error) {
	return &Store{conn: db.Open(dsn)}, nil
}

// Find looks a user up.
func (s *Store) Find(ctx context.Context, id string) (*User, error) {
	row := s.conn.QueryRow(ctx, id)
	return scan(row)
}
