import { isLoopback } from './address.js'

/** Whether the proxies of the environment have a say on this address; what is on this machine is reached directly. */
export function mayBeProxied(url: URL, env: NodeJS.ProcessEnv = process.env): boolean {
  return !isLoopback(url) && (proxyIn(env, 'http_proxy') !== '' || proxyIn(env, 'https_proxy') !== '')
}

/** The proxy did not answer, so that nothing was sent. Its message never has the proxy's password. */
export class ProxyFailure extends Error {}

export function proxyIn(env: NodeJS.ProcessEnv, name: 'http_proxy' | 'https_proxy'): string {
  return [env[name], env[name.toUpperCase()]].map((text) => text?.trim()).find(Boolean) ?? ''
}
