/**
 * The parts of undici that loadgate uses, by their paths: undici's index loads its mocks, caches, WebSocket and fetch as well, which was
 * over a quarter of the time that a step took until its first request. Its version is pinned, so a path cannot go away unnoticed.
 */
import request from 'undici/lib/api/api-request.js'
import errors from 'undici/lib/core/errors.js'
import Agent from 'undici/lib/dispatcher/agent.js'
import Dispatcher from 'undici/lib/dispatcher/dispatcher.js'

// As undici's index does it.
Object.assign(Dispatcher.prototype, { request })

export { Agent, errors }
