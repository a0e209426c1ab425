package storage

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"net/url"

	"gocloud.dev/blob"
	_ "gocloud.dev/blob/fileblob" // file://
	_ "gocloud.dev/blob/memblob"  // mem://
)

// OpenURL opens a bucket of any kind that is linked into the program: file:// and mem:// always, the others where their driver is
// imported (gocloud.dev/blob/s3blob for s3://). A directory of a file:// URL is made where it is missing, and gocloud's temporary and
// attribute files are left out, unless the URL says otherwise.
func OpenURL(ctx context.Context, rawURL string) (*blob.Bucket, error) {
	u, err := url.Parse(rawURL)
	if err != nil || u.Scheme == "" {
		return nil, fmt.Errorf("open bucket %q: it is not a URL such as file:///var/lib/checkpoints or s3://bucket?region=eu-west-1", HideSecrets(rawURL))
	}
	if u.Scheme == "file" && u.Host != "" && u.Host != "localhost" {
		return nil, fmt.Errorf("open bucket %q: the path of a file URL begins with a slash: file:///%s%s, or the whole path of the directory", HideSecrets(rawURL), u.Host, u.Path)
	}
	if u.Scheme == "file" {
		q := u.Query()
		for _, d := range [][2]string{{"create_dir", "true"}, {"no_tmp_dir", "true"}, {"metadata", "skip"}} {
			if !q.Has(d[0]) {
				q.Set(d[0], d[1])
			}
		}
		u.RawQuery = q.Encode()
	}
	b, err := blob.OpenBucket(ctx, u.String())
	switch {
	case err != nil && !blob.DefaultURLMux().ValidBucketScheme(u.Scheme):
		return nil, fmt.Errorf("open bucket %q: there is no driver for %s://: for s3, gs or azblob the program must import it, such as gocloud.dev/blob/s3blob", HideSecrets(rawURL), u.Scheme)
	case err != nil:
		return nil, fmt.Errorf("open bucket %q: %w", HideSecrets(rawURL), err)
	}
	return b, nil
}

// HideSecrets gives a URL without user and parameters, for messages.
func HideSecrets(rawURL string) string {
	u, err := url.Parse(rawURL)
	if err != nil {
		return "(not a URL)"
	}
	u.User, u.RawQuery, u.Fragment = nil, "", ""
	return u.String()
}

// Token gives 32 random characters of [0-9a-f].
func Token() string { return token() }

// ObjectOf gives the size and SHA-256 of data under a name.
func ObjectOf(name string, data []byte) Object {
	return Object{Name: name, Size: int64(len(data)), SHA256: sha256.Sum256(data)}
}

// PutObject is Put of bytes that ObjectOf has described already.
func (b *Bucket) PutObject(ctx context.Context, o Object, data []byte) error {
	if err := checkName(o.Name); err != nil {
		return b.fail("put", o.Name, err)
	}
	return b.do(ctx, "put", o.Name, func(ctx context.Context) error {
		if o.Size != int64(len(data)) || o.Size > b.opts.MaxObjectBytes {
			return permanent("%d bytes, %d were described, and at most MaxObjectBytes = %d are written", len(data), o.Size, b.opts.MaxObjectBytes)
		}
		return b.write(ctx, o.Name, false, new(bool), func(w io.Writer) error {
			_, err := w.Write(data)
			return err
		})
	})
}
