import { decodeXml } from '../../../analysis/plans/jmx/plan-tree.js'
import type { HostOverride } from '../engine.js'

/**
 * Inserts JMeter's own DNS element into a plan, so that some names resolve to other addresses.
 * The text is the plan's bytes as latin1: the inserted text is ASCII, and the rest keeps its bytes in any such encoding.
 */
export function insertHostOverrides(plan: string, hosts: readonly HostOverride[]): string {
  if (hosts.length === 0) return plan
  // Another such element closer to a sampler would take precedence.
  const others = plan.replace(/(<DNSCacheManager\b[^>]*?\benabled=)"true"/g, '$1"false"')
  const place = /<\/TestPlan>\s*<hashTree(\s*\/)?>/.exec(others)
  // Without a tree there are no samplers, so there is nothing to redirect.
  if (!place || place[1] !== undefined) return plan
  const at = place.index + place[0].length
  return `${others.slice(0, at)}${dnsElement(hosts)}${others.slice(at)}`
}

function dnsElement(hosts: readonly HostOverride[]): string {
  const entries = hosts.map(
    ({ host, address }) =>
      `<elementProp name="${host}" elementType="StaticHost"><stringProp name="StaticHost.Name">${host}</stringProp>` +
      `<stringProp name="StaticHost.Address">${address}</stringProp></elementProp>`
  )
  return (
    '<DNSCacheManager guiclass="DNSCachePanel" testclass="DNSCacheManager" testname="Host overrides" enabled="true">' +
    '<collectionProp name="DNSCacheManager.servers"/>' +
    `<collectionProp name="DNSCacheManager.hosts">${entries.join('')}</collectionProp>` +
    '<boolProp name="DNSCacheManager.clearEachIteration">false</boolProp>' +
    '<boolProp name="DNSCacheManager.isCustomResolver">true</boolProp>' +
    '</DNSCacheManager><hashTree/>'
  )
}

/** The names of a plan's samplers, as far as its text shows them. */
export function readSamplerNames(plan: string): string[] {
  const elements = plan.matchAll(/<([\w.]*Sampler\w*)\b([^>]*)>/g)
  const names = [...elements].flatMap(([, , attributes = '']) => {
    const name = /\btestname="([^"]*)"/.exec(attributes)?.[1]
    return name === undefined || /\benabled="false"/.test(attributes) ? [] : [decodeXml(name)]
  })
  return [...new Set(names)]
}

/** The names of a plan's elements; requests and threads are named after them. */
function readElementNames(plan: string): string[] {
  const names = [...plan.matchAll(/\btestname="([^"]*)"/g)].map(([, name = '']) => decodeXml(name))
  return [...new Set(names)]
}

const JMETER = /\.jmx$/i
const SOURCE = /\.(?:java|scala|kt|[cm]?[jt]s)$/i
/** In any of the languages of plans; it need not be exact. */
const LITERAL = /"((?:[^"\\\n]|\\.){1,200})"|'((?:[^'\\\n]|\\.){1,200})'|`((?:[^`\\]|\\.){1,200})`/g

/** Whether a plan or a part of one may be in a file of this name. */
export function mayHaveNames(fileName: string): boolean {
  return JMETER.test(fileName) || SOURCE.test(fileName)
}

/** What requests and threads may be named after: a plan's elements, or the literals of its source. */
export function readPlanNames(fileName: string, text: string): string[] {
  if (!SOURCE.test(fileName)) return readElementNames(text)
  return [
    ...new Set([...text.matchAll(LITERAL)].map(([, double, single, back]) => double ?? single ?? back ?? ''))
  ]
}
