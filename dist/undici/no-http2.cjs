// Stands where undici has its HTTP/2 client, in the bundle alone. undici negotiates HTTP/2 only with `allowH2`, which
// nobody here sets, yet it would load the client, and Node's http2 under it, at every start.
module.exports = function connectH2() {
  throw new Error('This bundle of undici has no HTTP/2: see scripts/no-http2.cjs')
}
