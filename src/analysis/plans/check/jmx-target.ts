import type { PlanElement } from '../jmx/plan-tree.js'
import type { JmxPlan, Placed } from './jmx-plan.js'
import type { PlanRequest } from './request.js'

const HTTP_SAMPLER = /^HTTPSampler(?:Proxy|2)?$/
/** One of the first requests is as good as any. */
const LOOKED_AT = 20
const DEFAULTS = 'ConfigTestElement'

/** Elements whose children run whenever they do; others have conditions. */
const ALWAYS =
  /^(?:TestPlan|ThreadGroup|SetupThreadGroup|GenericController|TransactionController|LoopController|OnceOnlyController|CriticalSectionController|RecordingController|ModuleController|IncludeController)$/
/** Elements that send requests elsewhere than their address says. */
const REDIRECTS = 'DNSCacheManager'
const PROXY_PROPERTY = /^https?\.proxyHost$/
/** Without them the reply may be another one. */
const CREDENTIALS = /^(?:HeaderManager|AuthManager|CookieManager)$/

/** What the plan's first HTTP request is sent to; undefined if that is only known at run time, or there is none. */
export interface Target {
  readonly url: URL
  /** For messages: a path that is put together may contain a secret. */
  readonly shown: string
  /** The plan sends exactly this, so that an error of the server is one of the plan's too. */
  readonly isOfPlan: boolean
}

export function targetOf(plan: JmxPlan, { parameters }: Pick<PlanRequest, 'parameters'>): Target | undefined {
  const hasOwnWay =
    plan.enabled.some(({ element }) => element.kind === REDIRECTS) ||
    parameters.some(({ name }) => PROXY_PROPERTY.test(name))
  if (hasOwnWay) return undefined
  const requests = plan.enabled
    .filter((placed) => HTTP_SAMPLER.test(placed.element.kind) && isAlwaysRun(plan, placed))
    .slice(0, LOOKED_AT)
    .map((placed) => ({ ...placed, url: urlOf(plan, placed) }))
  const [first] = requests
  if (first?.url === undefined) return undefined
  const { origin } = first.url
  const get = requests.find(({ element, url }) => url?.origin === origin && isPlainGet(plan, element))
  if (get?.url === undefined)
    return { url: new URL('/', first.url), shown: new URL('/', first.url).href, isOfPlan: false }
  const isWritten = !get.element.properties.get('HTTPSampler.path')?.includes('${')
  return {
    url: get.url,
    shown: isWritten ? get.url.href : `${origin}/***`,
    isOfPlan: get === first && !plan.enabled.some(({ element }) => CREDENTIALS.test(element.kind))
  }
}

/** Whether no condition decides on it. */
function isAlwaysRun(plan: JmxPlan, { within }: Placed): boolean {
  for (let around = within; around !== undefined; around = around.within) {
    const { kind, properties } = around.element
    const count = properties.get('ThreadGroup.num_threads')
    if (!ALWAYS.test(kind) || (count !== undefined && plan.evaluate(count)?.trim() === '0')) return false
  }
  return true
}

function isPlainGet(plan: JmxPlan, { properties, parts }: PlanElement): boolean {
  return (
    (properties.get('HTTPSampler.method') ?? 'GET') === 'GET' &&
    plan.evaluate(properties.get('HTTPSampler.path') ?? '') !== undefined &&
    !parts.some(({ type }) => type === 'HTTPArgument')
  )
}

/** A sampler's own address, or that of the defaults around it; its path only if it is known. */
function urlOf(plan: JmxPlan, placed: Placed): URL | undefined {
  const layers = [placed.element, ...defaultsFor(placed)]
  const read = (name: string): string | undefined => {
    const written = layers.map(({ properties }) => properties.get(`HTTPSampler.${name}`)?.trim() ?? '')
    return plan.evaluate(written.find((text) => text !== '') ?? '')?.trim()
  }
  const path = plan.evaluate(placed.element.properties.get('HTTPSampler.path') ?? '')?.trim() ?? '/'
  if (/^https?:\/\//i.test(path)) return read('proxyHost') === '' ? parse(path) : undefined
  const [protocol, domain, port] = [read('protocol'), read('domain'), read('port')]
  if (read('proxyHost') !== '') return undefined
  if (protocol === undefined || domain === undefined || port === undefined || domain === '') return undefined
  const scheme = (protocol || (port === '443' ? 'https' : 'http')).toLowerCase()
  if (!/^https?$/.test(scheme) || !/^\d*$/.test(port) || /[/\\?#@\s]/.test(domain)) return undefined
  return parse(
    `${scheme}://${domain}${port === '' ? '' : `:${port}`}${path.startsWith('/') ? path : `/${path}`}`
  )
}

/** The nearest first. The plan itself is around all of its elements. */
function defaultsFor(placed: Placed): PlanElement[] {
  const found: PlanElement[] = []
  for (let around: Placed | undefined = placed; around !== undefined; around = around.within)
    for (const child of around.element.children)
      if (child.isEnabled && child.kind === DEFAULTS) found.push(child)
  return found
}

function parse(text: string): URL | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined
  return url === undefined || url.username + url.password !== '' ? undefined : url
}
