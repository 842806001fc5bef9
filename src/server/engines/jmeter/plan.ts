import { decodeXml } from '../../../plans/jmx/xml.js'
import type { HostOverride } from '../override-hosts.js'

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
export function readElementNames(plan: string): string[] {
  const names = [...plan.matchAll(/\btestname="([^"]*)"/g)].map(([, name = '']) => decodeXml(name))
  return [...new Set(names)]
}
