import { isLoopback } from './address.js'

/** Whether the proxies of the environment have a say on this address; what is on this machine is reached directly. */
export function mayBeProxied(url: URL, env: NodeJS.ProcessEnv = process.env): boolean {
  const { http_proxy, HTTP_PROXY, https_proxy, HTTPS_PROXY } = env
  return !isLoopback(url) && [http_proxy, HTTP_PROXY, https_proxy, HTTPS_PROXY].some(Boolean)
}
