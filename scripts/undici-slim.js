// What the bundles load when the code says 'undici': the parts that loadgate and the toolkit use, taken by their own
// paths. undici's index would load its mocks, caches, WebSocket and fetch at every start, some 25 ms of a step's first
// 100. There is one such bundle, dist/undici, which all others import, so there is one copy of undici as well.
import apiConnect from 'undici/lib/api/api-connect.js'
import apiRequest from 'undici/lib/api/api-request.js'
import errors from 'undici/lib/core/errors.js'
import util from 'undici/lib/core/util.js'
import Agent from 'undici/lib/dispatcher/agent.js'
import Dispatcher from 'undici/lib/dispatcher/dispatcher.js'
import EnvHttpProxyAgent from 'undici/lib/dispatcher/env-http-proxy-agent.js'
import ProxyAgent from 'undici/lib/dispatcher/proxy-agent.js'

// undici's index gives all dispatchers its API; a proxy agent makes its tunnels with this part of it.
Dispatcher.prototype.connect = apiConnect

export { Agent, EnvHttpProxyAgent, ProxyAgent, errors }

/** undici's `request`, but for the global dispatcher: loadgate always hands one in. */
export function request(address, { dispatcher, ...options } = {}) {
  if (!dispatcher) throw new errors.InvalidArgumentError('request needs a dispatcher')
  const { origin, pathname, search } = util.parseURL(address)
  const method = options.method ?? (options.body ? 'PUT' : 'GET')
  return apiRequest.call(dispatcher, { ...options, origin, path: pathname + search, method })
}

/** Only octokit fetches, and late in a step: its part of undici is loaded then. */
export async function fetch(...args) {
  const { fetch: fetchNow } = await import('undici/lib/web/fetch/index.js')
  return fetchNow(...args)
}
