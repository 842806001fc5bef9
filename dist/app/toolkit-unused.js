// Stands where @actions/core has its OIDC client and its way to run commands, in the bundle alone: loadgate uses neither,
// and they would load an HTTP client, TLS and child processes at every start.
function refuse() {
  throw new Error('This bundle of @actions/core does without this: see scripts/toolkit-unused.js')
}

export class OidcClient {
  static getIDToken = refuse
}
export { refuse as getExecOutput }
