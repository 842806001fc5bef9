import { SaxesParser } from 'saxes'
import { literalsIn } from '../../../analysis/plans/check/source-plan.js'
import { flatten, isJmx, readPlanTree } from '../../../analysis/plans/jmx/plan-tree.js'
import type { HostOverride } from '../engine.js'

/** Inserts JMeter's own DNS element, with ASCII only, into the plan's bytes as latin1: the others stay as they are in any such encoding. */
export function insertHostOverrides(plan: string, hosts: readonly HostOverride[]): string {
  const parser = new SaxesParser()
  let changed = ''
  let copied = 0
  const copy = (change: (tag: string) => string = String): void => {
    changed += change(plan.slice(copied, parser.position))
    copied = parser.position
  }
  const found = { isPlace: false, isInserted: false }
  parser.on('error', () => undefined)
  parser.on('opentag', ({ name, isSelfClosing }) => {
    copy((tag) =>
      // Another such element closer to a sampler would take precedence.
      name === 'DNSCacheManager'
        ? tag.replace(/(\senabled\s*=\s*)(["'])true\2(?=[^<]*$)/, '$1$2false$2')
        : tag
    )
    if (found.isPlace && name === 'hashTree' && !isSelfClosing && !found.isInserted) {
      changed += dnsElement(hosts)
      found.isInserted = true
    }
    found.isPlace = false
  })
  parser.on('closetag', ({ name }) => {
    found.isPlace = name === 'TestPlan'
  })
  parser.write(plan).close()
  // Without a tree there are no samplers, so there is nothing to redirect.
  return found.isInserted && hosts.length > 0 ? changed + plan.slice(copied) : plan
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

export function readSamplerNames(plan: string): string[] {
  const samplers = flatten(readPlanTree(plan) ?? []).filter(
    ({ kind, isEnabled }) => isEnabled && kind.includes('Sampler')
  )
  return [...new Set(samplers.map(({ name }) => name))].filter((name) => name !== '')
}

const SOURCE = /\.(?:java|scala|kt|[cm]?[jt]s)$/i

/** Whether a plan or a part of one may be in a file of this name. */
export function mayHaveNames(fileName: string): boolean {
  return isJmx(fileName) || SOURCE.test(fileName)
}

/** What requests and threads may be named after: a plan's elements, or the literals of its source. */
export function readPlanNames(fileName: string, text: string): string[] {
  const names = SOURCE.test(fileName)
    ? literalsIn(text)
    : flatten(readPlanTree(text) ?? []).map(({ name }) => name)
  return [...new Set(names)]
}
