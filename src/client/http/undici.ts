/**
 * The parts of undici that loadgate uses, by their paths: undici's index loads its mocks, caches, WebSocket and fetch as well, which was
 * over a quarter of the time that a step took until its first request. Its version is pinned, so a path cannot go away unnoticed.
 */
import api from 'undici/lib/api/index.js'
import errors from 'undici/lib/core/errors.js'
import Agent from 'undici/lib/dispatcher/agent.js'
import Dispatcher from 'undici/lib/dispatcher/dispatcher.js'
import EnvHttpProxyAgent from 'undici/lib/dispatcher/env-http-proxy-agent.js'
import Pool from 'undici/lib/dispatcher/pool.js'

// As undici's index does it: `request` for callers, `connect` for the tunnels of the proxy agent.
Object.assign(Dispatcher.prototype, api)

export { Agent, EnvHttpProxyAgent, Pool, errors }
