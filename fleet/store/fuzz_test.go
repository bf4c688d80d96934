package store

import "testing"

// FuzzDecode: what others have written into a manifest does no harm.
func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"version": 3, "fence": 1, "token": "t", "state": "held", "ttl_ns": 90000000000}`))
	f.Add([]byte(`{"version": 3, "fence": 1, "state": "done", "object": "x/copies/a/1.db.zst", "digest": "00"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := decode(data)
		if err == nil && (m.Version < 1 || m.State == "" || m.TTL < 0) {
			t.Errorf("%q is read as %+v", data, m)
		}
		for range maxAbandoned {
			m.abandon("reason")
		}
		if m.State != Failed {
			t.Errorf("%+v goes on", m)
		}
	})
}
