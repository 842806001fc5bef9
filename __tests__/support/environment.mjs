import { constants, createContext } from 'node:vm'
import { TestEnvironment as NodeEnvironment } from 'jest-environment-node'

/**
 * Jest's environment for Node, but with an ordinary global object. Jest's own is a Proxy: every use of `Math`, `Buffer` or `Promise` goes
 * through it, and what loops over samples takes twice as long or longer.
 */
export default class Environment extends NodeEnvironment {
  constructor(config, context) {
    super(config, context)
    const { projectConfig } = config
    const watched = this.global
    const global = createContext(constants.DONT_CONTEXTIFY)
    for (const name of Reflect.ownKeys(watched))
      if (!Object.hasOwn(global, name)) share(global, name, watched)
    // Those that Node's own modules use, as in jest's environment.
    Object.assign(global, { global, Buffer, ArrayBuffer, Uint8Array })
    global[Symbol.for('jest-native-promise')] = global.Promise
    global.Error.stackTraceLimit = watched.Error.stackTraceLimit
    this.context = global
    this.global = global
    this.moduleMocker = new this.moduleMocker.constructor(global)
    this.fakeTimersModern = new this.fakeTimersModern.constructor({ config: projectConfig, global })
  }
}

/** Reads it when it is used: some globals of Node load a module then. */
function share(global, name, watched) {
  const set = (value) => Object.defineProperty(global, name, { configurable: true, writable: true, value })
  const get = () => {
    const value = watched[name]
    set(value)
    return value
  }
  Object.defineProperty(global, name, { configurable: true, get, set })
}
