package endpoint

// ReadCacheCounts reads the body of /metrics.
var ReadCacheCounts = readCacheCounts
