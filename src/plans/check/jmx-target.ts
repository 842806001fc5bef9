import type { PlanElement } from '../jmx/plan-tree.js'
import type { JmxPlan, Placed } from './jmx-plan.js'

const HTTP_SAMPLER = /^HTTPSampler(?:Proxy|2)?$/
/** One of the first requests is as good as any. */
const LOOKED_AT = 20
const DEFAULTS = 'ConfigTestElement'

/** What the plan's first HTTP request is sent to; undefined if that is only known at run time, or there is none. */
export interface Target {
  readonly url: URL
  /** The path is that of a GET of the plan. */
  readonly isOfPlan: boolean
}

export function targetOf(plan: JmxPlan): Target | undefined {
  const requests = plan.enabled
    .filter(({ element }) => HTTP_SAMPLER.test(element.kind))
    .slice(0, LOOKED_AT)
    .map((placed) => ({ ...placed, url: urlOf(plan, placed) }))
  const [first] = requests
  if (first?.url === undefined) return undefined
  const { origin } = first.url
  const get = requests.find(
    ({ element, url }) => isGet(element) && url?.origin === origin && hasPath(plan, element)
  )
  return get?.url === undefined
    ? { url: new URL('/', first.url), isOfPlan: false }
    : { url: get.url, isOfPlan: true }
}

function isGet({ properties }: PlanElement): boolean {
  return (properties.get('HTTPSampler.method') ?? 'GET') === 'GET'
}

function hasPath(plan: JmxPlan, { properties, text }: PlanElement): boolean {
  return (
    plan.evaluate(properties.get('HTTPSampler.path') ?? '') !== undefined &&
    !text.includes('elementType="HTTPArgument"')
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
  if (/^https?:\/\//i.test(path)) return parse(path)
  const [protocol, domain, port] = [read('protocol'), read('domain'), read('port')]
  if (protocol === undefined || domain === undefined || port === undefined || domain === '') return undefined
  const scheme = (protocol || (port === '443' ? 'https' : 'http')).toLowerCase()
  if (!/^https?$/.test(scheme) || !/^\d*$/.test(port) || /[/\\?#@\s]/.test(domain)) return undefined
  return parse(
    `${scheme}://${domain}${port === '' ? '' : `:${port}`}${path.startsWith('/') ? path : `/${path}`}`
  )
}

/** The nearest first. The plan itself is around all of its elements. */
function defaultsFor({ element, parents }: Placed): PlanElement[] {
  const scopes = [element, ...[...parents].reverse()].map(({ children }) => children)
  return scopes.flatMap((siblings) =>
    siblings.filter(({ kind, isEnabled }) => isEnabled && kind === DEFAULTS)
  )
}

function parse(text: string): URL | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined
  return url === undefined || url.username + url.password !== '' ? undefined : url
}
