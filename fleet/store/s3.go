package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	transport "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/s3"
)

// S3 is a bucket behind the S3 API.
type S3 struct {
	client *s3.Client
	bucket string
	bare   bool // tags are sent without quotes
}

// Open opens the store at an address s3://BUCKET/PREFIX, and refuses one that is unfit. Credentials, region and
// endpoint are those that the SDK finds in the environment and in its files.
func Open(ctx context.Context, address string, ttl time.Duration) (*Store, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "s3" || u.Host == "" {
		return nil, fmt.Errorf("%q is no address of a store: write s3://BUCKET/PREFIX", address)
	}
	cfg, err := config.LoadDefaultConfig(ctx,
		// Not all servers know the newer checksums. Copies have digests of their own.
		config.WithRequestChecksumCalculation(aws.RequestChecksumCalculationWhenRequired),
		config.WithResponseChecksumValidation(aws.ResponseChecksumValidationWhenRequired))
	if err != nil {
		return nil, fmt.Errorf("read the settings of the store's client: %w", err)
	}
	if cfg.Region == "" {
		cfg.Region = "us-east-1"
	}
	client := s3.NewFromConfig(cfg, func(o *s3.Options) { o.UsePathStyle = o.BaseEndpoint != nil })
	bucket := &S3{client: client, bucket: u.Host}
	s := New(bucket, u.Path, ttl)
	if err = Probe(ctx, s); err != nil {
		bucket.bare = true // some servers know tags only without their quotes
		if Probe(ctx, s) != nil {
			return nil, err
		}
	}
	return s, nil
}

// Get implements Bucket.
func (b *S3) Get(ctx context.Context, key string) (data []byte, tag string, err error) {
	out, err := b.client.GetObject(ctx, &s3.GetObjectInput{Bucket: &b.bucket, Key: &key})
	if status(err) == http.StatusNotFound {
		return nil, "", ErrMissing
	}
	if err != nil {
		return nil, "", err
	}
	defer func() { _ = out.Body.Close() }()
	data, err = io.ReadAll(out.Body)
	return data, aws.ToString(out.ETag), err
}

// Put implements Bucket.
func (b *S3) Put(ctx context.Context, key string, data []byte, condition string) (tag string, err error) {
	in := &s3.PutObjectInput{Bucket: &b.bucket, Key: &key, Body: bytes.NewReader(data)}
	switch condition {
	case Always:
	case Absent:
		in.IfNoneMatch = &condition
	default:
		if b.bare {
			condition = strings.Trim(condition, `"`)
		}
		in.IfMatch = &condition
	}
	out, err := b.client.PutObject(ctx, in)
	switch code := status(err); {
	case err == nil:
		return aws.ToString(out.ETag), nil
	case code == http.StatusConflict:
		return "", ErrConflict
	case code == http.StatusPreconditionFailed, code == http.StatusNotFound && in.IfMatch != nil:
		return "", ErrChanged
	}
	return "", err
}

// List implements Bucket.
func (b *S3) List(ctx context.Context, prefix string) (objects []Object, err error) {
	pages := s3.NewListObjectsV2Paginator(b.client, &s3.ListObjectsV2Input{Bucket: &b.bucket, Prefix: &prefix})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		for _, o := range page.Contents {
			objects = append(objects, Object{aws.ToString(o.Key), aws.ToInt64(o.Size), aws.ToTime(o.LastModified)})
		}
	}
	return objects, nil
}

// Delete implements Bucket.
func (b *S3) Delete(ctx context.Context, key string) error {
	_, err := b.client.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: &b.bucket, Key: &key})
	return err
}

// status returns the status of an answer that is an error, else 0.
func status(err error) int {
	if answer := (*transport.ResponseError)(nil); errors.As(err, &answer) {
		return answer.HTTPStatusCode()
	}
	return 0
}
