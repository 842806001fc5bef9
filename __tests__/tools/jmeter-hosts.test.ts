import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Service } from '../../src/service/server.js'
import {
  createServices,
  finishRun,
  type FormPart,
  get,
  postForm,
  type Reply,
  runForm,
  SPEC,
  specFields,
  waitForStatus
} from '../service/support.js'

const hasJava = spawnSync('java', ['-version']).status === 0
const describeWithJava = hasJava || process.env.LOADGATE_REQUIRE_JMETER === '1' ? describe : describe.skip
const INSTALL_MS = 15 * 60_000
const RUN_MS = 90_000
/** Has no address, so that a request that is sent past the override fails. */
const HOST = 'never.invalid'
const SAMPLES = 3

const sampler = (more = '', domain = HOST): string =>
  `<HTTPSamplerProxy guiclass="HttpTestSampleGui" testclass="HTTPSamplerProxy" testname="home" enabled="true">
<elementProp name="HTTPsampler.Arguments" elementType="Arguments"><collectionProp name="Arguments.arguments"/></elementProp>
<stringProp name="HTTPSampler.domain">${domain}</stringProp><stringProp name="HTTPSampler.port">\${__P(port)}</stringProp>
<stringProp name="HTTPSampler.protocol">http</stringProp><stringProp name="HTTPSampler.path">/</stringProp>
<stringProp name="HTTPSampler.method">GET</stringProp>${more}</HTTPSamplerProxy><hashTree/>`
const SCRIPT = `<JSR223Sampler guiclass="TestBeanGUI" testclass="JSR223Sampler" testname="script" enabled="true">
<stringProp name="scriptLanguage">groovy</stringProp>
<stringProp name="script">new URL("http://${HOST}:" + props.get("port")).text</stringProp></JSR223Sampler><hashTree/>`
const TCP = `<TCPSampler guiclass="TCPSamplerGui" testclass="TCPSampler" testname="tcp" enabled="true">
<stringProp name="TCPSampler.server">${HOST}</stringProp><stringProp name="TCPSampler.port">\${__P(port)}</stringProp>
<boolProp name="TCPSampler.reUseConnection">false</boolProp><stringProp name="TCPSampler.timeout">5000</stringProp><stringProp name="TCPSampler.EolByte">10</stringProp>
<stringProp name="TCPSampler.request">GET / HTTP/1.0

</stringProp></TCPSampler><hashTree/>`
const CACHE = `<DNSCacheManager guiclass="DNSCachePanel" testclass="DNSCacheManager" testname="cache" enabled="true">
<collectionProp name="DNSCacheManager.servers"/><boolProp name="DNSCacheManager.clearEachIteration">true</boolProp>
<boolProp name="DNSCacheManager.isCustomResolver">false</boolProp></DNSCacheManager><hashTree/>`
const RESOLVER = CACHE.replace('>false<', '>true<').replace(
  '<boolProp',
  `<collectionProp name="DNSCacheManager.hosts"><elementProp name="h" elementType="StaticHost">
<stringProp name="StaticHost.Name">${HOST}</stringProp><stringProp name="StaticHost.Address">127.0.0.1</stringProp>
</elementProp></collectionProp><boolProp`
)

const TEST_PLAN = '<TestPlan guiclass="TestPlanGui" testclass="TestPlan" testname="Shop" enabled="true"'
const FIELDS = `<stringProp name="TestPlan.comments"></stringProp><boolProp name="TestPlan.functional_mode">false</boolProp>
<boolProp name="TestPlan.serialize_threadgroups">false</boolProp>
<elementProp name="TestPlan.user_defined_variables" elementType="Arguments" guiclass="ArgumentsPanel" testclass="Arguments"
testname="User Defined Variables" enabled="true"><collectionProp name="Arguments.arguments"/></elementProp>
<stringProp name="TestPlan.user_define_classpath"></stringProp></TestPlan>`

/** A plan of one thread that sends three requests. */
function planOf({
  start = '<?xml version="1.0" encoding="UTF-8"?>\n<jmeterTestPlan version="1.2" properties="5.0" jmeter="5.6.3">',
  top = `${TEST_PLAN}>${FIELDS}`,
  between = '',
  samplers = sampler()
}: Partial<Record<'start' | 'top' | 'between' | 'samplers', string>> = {}): string {
  return `${start}<hashTree>${top}${between}<hashTree>
<ThreadGroup guiclass="ThreadGroupGui" testclass="ThreadGroup" testname="Customers" enabled="true">
<elementProp name="ThreadGroup.main_controller" elementType="LoopController"><boolProp name="LoopController.continue_forever">false</boolProp>
<stringProp name="LoopController.loops">${SAMPLES}</stringProp></elementProp>
<stringProp name="ThreadGroup.num_threads">1</stringProp><stringProp name="ThreadGroup.ramp_time">0</stringProp>
</ThreadGroup><hashTree>${samplers}</hashTree></hashTree></hashTree></jmeterTestPlan>\n`
}

const savedBy = (properties: string, jmeter: string): string =>
  `<?xml version="1.0" encoding="UTF-8"?>\n<jmeterTestPlan version="1.2" properties="${properties}" jmeter="${jmeter}">`
const implementation = (name: string): string =>
  sampler(`<stringProp name="HTTPSampler.implementation">${name}</stringProp>`)

const PLANS: Readonly<Record<string, string>> = {
  'saved by JMeter 3': planOf({
    start: savedBy('3.2', '3.3 r1808647'),
    samplers: sampler('<boolProp name="HTTPSampler.monitor">false</boolProp>')
  }),
  'saved by JMeter 4': planOf({ start: savedBy('4.0', '4.0 r1823414') }),
  'saved by JMeter 5': planOf(),
  'a test plan that is closed in itself': planOf({ top: `${TEST_PLAN}/>` }),
  'comments everywhere': planOf({
    start: `<?xml version="1.0"?><!-- a <TestPlan> --><jmeterTestPlan version="1.2"><!-- <hashTree> -->`,
    between: '<!-- the tree: --><!-- <hashTree/> -->'
  }),
  CDATA: planOf({
    top: `${TEST_PLAN}><stringProp name="TestPlan.comments"><![CDATA[</TestPlan><hashTree>]]></stringProp></TestPlan>`,
    samplers: sampler('', `<![CDATA[${HOST}]]>`)
  }),
  namespaces: planOf({
    start:
      '<jmeterTestPlan xmlns="urn:plan" xmlns:x="urn:x" version="1.2" properties="5.0" jmeter="5.6.3" x:by="us">'
  }),
  'another encoding of bytes': planOf({
    start: '<?xml version="1.0" encoding="ISO-8859-1"?><jmeterTestPlan version="1.2">'
  }),
  'references to characters': planOf({ samplers: sampler('', HOST.replace('n', '&#110;')) }),
  'capital letters in the name': planOf({ samplers: sampler('', HOST.toUpperCase()) }),
  "Java's implementation of HTTP": planOf({ samplers: implementation('Java') }),
  HttpClient: planOf({ samplers: implementation('HttpClient4') }),
  'a DNS cache of its own': planOf({ samplers: CACHE + sampler() }),
  'a script': planOf({ samplers: SCRIPT }),
  TCP: planOf({ samplers: TCP })
}

const REFUSED: Readonly<Record<string, { plan: string | Buffer; words: string }>> = {
  'UTF-16': {
    plan: Buffer.from(`\ufeff${planOf()}`, 'utf16le'),
    words: 'is encoded in UTF-16; save it as UTF-8'
  },
  'UTF-16, the other way round': {
    plan: Buffer.from(`\ufeff${planOf()}`, 'utf16le').swap16(),
    words: 'is encoded in UTF-16; save it as UTF-8'
  },
  'UTF-16 without a mark': { plan: Buffer.from(planOf(), 'utf16le'), words: 'zero bytes' },
  'a resolver of its own': {
    plan: planOf({ samplers: RESOLVER + sampler() }),
    words:
      'the DNS Cache Manager "cache" with a custom resolver; remove it, even if it is disabled, or leave override_hosts out'
  },
  'a tree that is never closed': { plan: planOf().replace('</jmeterTestPlan>', ''), words: 'cannot be read' }
}

describeWithJava('real JMeter with hosts that have other addresses', () => {
  const services = createServices()
  let service: Service
  let target: Server
  let connections: number

  beforeAll(async () => {
    service = await services.start({ engine: 'real' })
    const parts = SPEC.map(([key, value]): FormPart => [`grid[${key}]`, value])
    const { uuid } = (await postForm(service, '/grids', parts)).json
    expect(
      (await waitForStatus(service, `/grids/${uuid}`, ['started', 'stopped'], INSTALL_MS)).json.status
    ).toBe('started')
  }, INSTALL_MS)
  beforeEach(async () => {
    connections = 0
    // One request each.
    target = createServer((_request, response) => response.setHeader('connection', 'close').end('fine\n'))
    target.on('connection', () => (connections += 1)).listen(0, '127.0.0.1')
    await once(target, 'listening')
  })
  afterEach(() => void target.close())
  afterAll(() => services.closeAll())

  const run = (plan: string | Buffer): Promise<Reply> => {
    const { port } = target.address() as AddressInfo
    const fields = { override_hosts: `${HOST}/127.0.0.1`, override_parameters: `-Jport=${port}` }
    return finishRun(service, runForm(fields, specFields(), plan))
  }

  test.each(Object.keys(PLANS))(
    '%s: every request goes to the address of the override',
    async (kind) => {
      const { json } = await run(PLANS[kind]!)
      expect(json).toMatchObject({ status: 'finished', remote_errors: null })
      const { pathname, search } = new URL(json._embedded.results[0]!.href)
      const [, ...rows] = (await get(service, pathname + search)).text.trimEnd().split('\n')
      expect(rows.filter((row) => !row.includes(',true,'))).toEqual([])
      expect(rows).toHaveLength(SAMPLES)
      expect(connections).toBe(SAMPLES)
    },
    RUN_MS
  )

  test.each(Object.keys(REFUSED))(
    '%s: the run ends before any request, and says why',
    async (kind) => {
      const { plan, words } = REFUSED[kind]!
      const { json } = await run(plan)
      expect(json.status).toBe('problem')
      expect(json.remote_errors).toContain('override_hosts: requests could be sent past it: plan.jmx')
      expect(json.remote_errors).toContain(words)
      expect(connections).toBe(0)
    },
    RUN_MS
  )
})
