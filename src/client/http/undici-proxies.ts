/** What only proxies need of undici. */
import connect from 'undici/lib/api/api-connect.js'
import Dispatcher from 'undici/lib/dispatcher/dispatcher.js'
import EnvHttpProxyAgent from 'undici/lib/dispatcher/env-http-proxy-agent.js'
import Pool from 'undici/lib/dispatcher/pool.js'

// As undici's index does it: for the tunnels of the proxy agent.
Object.assign(Dispatcher.prototype, { connect })

export { EnvHttpProxyAgent, Pool }
