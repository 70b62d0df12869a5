// Package tokencount is the Go client of tokencount. The stubs are in tokencountv1; a convenience
// layer over them will live here.
package tokencount
