import { describe, expect, test } from '@jest/globals'
import { checkPlan } from '../../../src/analysis/plans/check/check-plan.js'
import { checkOddParameters } from '../../../src/analysis/plans/check/odd-parameters.js'
import type { PlanRequest } from '../../../src/analysis/plans/check/request.js'

const text = (name: string, value: string): string => `<stringProp name="${name}">${value}</stringProp>`

function element(kind: string, name: string, content = '', children = '', attributes = ''): string {
  return `<${kind} testname="${name}"${attributes}>${content}</${kind}><hashTree>${children}</hashTree>\n`
}

/** A plan with a thread group whose settings have defaults, and this in it. */
function plan(...content: string[]): string {
  const group = element(
    'ThreadGroup',
    'users',
    text('ThreadGroup.num_threads', '${__P(threads,1)}'),
    element('HTTPSamplerProxy', 'home', text('HTTPSampler.domain', 'shop.example')) + content.join('')
  )
  return `<jmeterTestPlan><hashTree>${element('TestPlan', 'Shop', '', group)}</hashTree></jmeterTestPlan>`
}

const header = (value: string, name = 'API', attributes = ''): string =>
  element('HeaderManager', name, text('Header.value', value), '', attributes)
const script = (code: string): string => element('JSR223Sampler', 'script', text('script', code))
const J = (name: string, value = '1'): PlanRequest['parameters'][number] => ({ kind: 'J', name, value })

function check(plan: string, changes: Partial<PlanRequest> = {}): string[] {
  const request: PlanRequest = {
    tool: 'jmeter',
    ...{ isHere: true, isEmbedded: true },
    plan: { name: 'plan.jmx', text: plan },
    others: [],
    ...{ threads: undefined, rampupSeconds: undefined, durationSeconds: undefined },
    parameters: [],
    limit: 'the timeout of 2 h',
    isThere: () => false,
    hasClass: () => true,
    ...changes
  }
  return checkPlan(request).findings.map(({ level, message }) => `${level}: ${message}`)
}

describe('properties that a JMeter plan reads and nobody gives', () => {
  test('with an empty default, without one, and where', () => {
    const uses = header('Bearer ${__P(authorization,)}')
    expect(check(plan(uses, header('${__P(tenant)}', 'Tenant'), header('${__P(tenant)}', 'Again')))).toEqual([
      'warning: The HTTP Header Manager "API" reads ${__P(authorization,)}, and nothing gives authorization: it would be empty. Add -Jauthorization=… to override-parameters, or write a default: ${__P(authorization,…)}.',
      'warning: The HTTP Header Manager "Tenant" and the HTTP Header Manager "Again" read ${__P(tenant)}, and nothing gives tenant: without a default it would be 1. Add -Jtenant=… to override-parameters, or write a default: ${__P(tenant,…)}.'
    ])
    expect(check(plan(header('${__property(tenant)}')))).toEqual([
      expect.stringContaining('without a default it would be its own name')
    ])
    expect(check(plan(header('${__P(rampup)}')))).toEqual([expect.stringContaining('Set rampup, or write')])
  })

  const GIVEN: readonly (readonly [string, string, Partial<PlanRequest>])[] = [
    ['a parameter', plan(header('${__P(a,)}')), { parameters: [J('a', '')] }],
    [
      'a parameter of Java',
      plan(header('${__P(a)}')),
      { parameters: [{ kind: 'D', name: 'a', value: '1' }] }
    ],
    ['a setting', plan(header('${__P(duration)}')), { durationSeconds: 5 }],
    ['a file of properties', plan(header('${__P(a,)}')), { given: new Set(['a']) }],
    ['the plan itself', plan(header('${__P(a,)}${__setProperty(a,5)}')), {}],
    ['a script of the plan', plan(header('${__P(a,)}'), script('props.put(&quot;a&quot;, 5)')), {}],
    ['a script that may set anything', plan(header('${__P(a,)}'), script('props.put(name, 5)')), {}],
    ['code in Java', plan(header('${__P(a,)}'), element('JavaSampler', 'own')), {}],
    ['a default', plan(header('${__P(a,b)} ${__property(a,,b)} ${__P(a,f(x\\,y))}')), {}],
    ['a default that is another property', plan(header('${__P(a,${__P(b,c)})}')), {}],
    [
      'a value, so that the default is not used',
      plan(header('${__P(a,${__P(b)})}')),
      { parameters: [J('a')] }
    ],
    ['nobody before the run knows its name', plan(header('${__P(${name})} ${__P(x${name},)}')), {}],
    ['JMeter, by its dot', plan(header('${__P(user.dir)}')), {}],
    ['nobody, in a disabled element', plan(header('${__P(a,)}', 'off', ' enabled="false"')), {}],
    [
      'nobody, in a field that may be empty',
      plan(element('HTTPSamplerProxy', 'home', text('HTTPSampler.port', '${__P(port,)}'))),
      {}
    ],
    ['nobody: it is never closed', plan(header('${__P(a,')), {}]
  ]
  test.each(GIVEN)('given by %s: nothing is said', (_, given, changes) => {
    expect(check(given, changes)).toEqual([])
  })

  test('a default in which another one is missing', () => {
    expect(check(plan(header('${__P(a,${__P(b,)})}')))).toEqual([
      expect.stringContaining('reads ${__P(b,)}, and nothing gives b')
    ])
    for (const path of [
      '/documents/${__P(id,)}',
      '/find?q=${__P(id,)}',
      '/${__P( id ,)}',
      '/a/${__P(id,)}/b'
    ])
      expect(check(plan(element('HTTPSamplerProxy', 'x', text('HTTPSampler.path', path))))).toEqual([
        expect.stringContaining(', and nothing gives id: it would be empty.')
      ])
    expect(check(plan(header('${__P(shop.token,)}')), { parameters: [J('shop.tokn')] })).toEqual([
      expect.stringContaining('-Jshop.tokn has no effect: the plan does not read'),
      expect.stringContaining('reads ${__P(shop.token,)}, and nothing gives shop.token')
    ])
    expect(check(plan(header('a')), { parameters: [J('view.results.tree.max_size')] })).toEqual([])
    expect(check(plan(element('HTTPSamplerProxy', 'x', text('HTTPSampler.port', '${__P(port)}'))))).toEqual([
      expect.stringContaining('The request "x" reads ${__P(port)}, and nothing gives port')
    ])
  })
})

describe('what a script of a JMeter plan reads and nobody gives', () => {
  const before = (code: string): string =>
    plan(element('JSR223PreProcessor', 'sign', text('script', code.replaceAll('"', '&quot;'))))

  test('a property, with the line', () => {
    expect(check(before('def a = 1\nlog.info(props.get("tenant"))'))).toEqual([
      'warning: The script "sign", line 2, reads props.get("tenant"), and nothing gives it: it would be null. Add -Jtenant=… to override-parameters, or write a fallback: props.get("tenant") ?: \'…\'.'
    ])
    expect(check(before('f(props["a"], props.getProperty("b"), props[\'duration\'])'))).toEqual([
      expect.stringContaining('Add -Ja=… to'),
      expect.stringContaining('Add -Jb=… to'),
      expect.stringContaining('Set duration, or write')
    ])
    const others = [{ name: 'sign.groovy', text: '\nf(props.get("a"))' }]
    const runs = element('JSR223Sampler', 'own', text('filename', 'sign.groovy'))
    expect(check(plan(runs), { others })).toEqual([expect.stringContaining('sign.groovy, line 2, reads')])
  })

  test('a variable of the environment, which parameters are not part of', () => {
    const read = check(before('f(System.getenv("TENANT"))'), { parameters: [J('TENANT')] })
    expect(read).toEqual([
      expect.stringContaining('-JTENANT has no effect'),
      'warning: The script "sign", line 1, reads System.getenv("TENANT"), and nothing gives it: it would be null. Read props.get("TENANT") instead, and add -JTENANT=… to override-parameters, or write a fallback: System.getenv().getOrDefault("TENANT", …).'
    ])
  })

  test.each<[string, string, Partial<PlanRequest>]>([
    ['a parameter', 'f(props.get("a"))', { parameters: [J('a')] }],
    ['a setting', 'f(props.get("threads"))', { threads: 5 }],
    ['a file', 'f(props.get("a"))', { given: new Set(['a']) }],
    ['a fallback', 'f(props.get("a") ?: "b")', {}],
    ['a condition', 'if (props.get("a") != null) f()', {}],
    ['a default', 'f(props.getProperty("a", "b"), props.getOrDefault("a", "b"))', {}],
    ['the script', 'props.put("a", "b"); f(props.get("a"))', {}],
    ['whoever knows the name', 'f(props.get(name), props.get("${name}"))', {}],
    ['JMeter', 'f(props.get("user.dir"))', {}],
    ['nobody, in a comment', '// props.get("a")', {}],
    ['the node', 'f(System.getenv("FLOOD_NODE_INDEX"))', {}]
  ])('given by %s: nothing is said', (_, code, changes) => {
    expect(check(before(code), changes)).toEqual([])
  })
})

describe('parameters that a JMeter plan does not read', () => {
  const unread = (content: string, name: string): string[] => check(plan(content), { parameters: [J(name)] })

  test.each([
    ['__P', header('${__P(a,b)}')],
    ['__property', header('${__property(a,,b)}')],
    ['__isPropDefined', header('${__isPropDefined(a)}')],
    ['a script', script('props.get(&quot;a&quot;)')],
    ['a script, by a field', script('props.a')],
    ['a function', header("${__groovy(props['a'])}")]
  ])('read by %s', (_, content) => {
    expect(unread(content, 'a')).toEqual([])
  })

  test('a variable of that name is no property', () => {
    expect(unread(header('${users}', 'People'), 'users')).toEqual([
      'warning: -Jusers has no effect: the plan does not read ${__P(users,…)}. The HTTP Header Manager "People" reads the variable ${users}, which is no property: write ${__P(users,…)} there.'
    ])
  })

  test('a name that is misspelt, with the one that the plan reads and the element that does', () => {
    expect(unread(header('${__P(tenant,a)}'), 'tennant')).toEqual([
      'warning: -Jtennant has no effect: the plan does not read ${__P(tennant,…)}. Did you mean -Jtenant, which the HTTP Header Manager "API" reads?'
    ])
  })
})

describe('entries of override-parameters that are no parameters', () => {
  test.each([
    [
      '-q load.properties',
      '-q is not -Jname=value or -Dname=value: it is a file of properties; list it under files'
    ],
    [
      '-Gusers=5',
      '-G is not -Jname=value or -Dname=value: it is a property for remote servers; write -Jname'
    ],
    ['-R 10.0.0.1', '-R is not -Jname=value or -Dname=value: it is a list of remote servers; the grids say'],
    ['-z', '-z is not -Jname=value or -Dname=value; remove it.'],
    ['-Jusers', '-Jusers has no value; write -Jusers=….'],
    ['-Jus/ers=5', 'an entry with -J is not -Jname=value or -Dname=value; a name has letters'],
    ['users=5', 'users=… is not -Jname=value or -Dname=value; write -Jusers=….'],
    ['s3cret', 'an entry is not -Jname=value or -Dname=value.']
  ])('%s', (entry, words) => {
    expect(checkOddParameters([entry], { isEmbedded: true })).toEqual([
      {
        level: 'error',
        isInput: true,
        message: expect.stringMatching(/^override-parameters: .* The run would be refused\.$/)
      }
    ])
    const [{ level, message } = { level: '', message: '' }] = checkOddParameters([entry], {
      isEmbedded: false
    })
    expect([level, message]).toEqual(['warning', expect.stringContaining(`override-parameters: ${words}`)])
    expect(message).not.toMatch(/s3cret|10\.0\.0\.1|load\.properties/)
  })
})

describe('values that a source reads and nobody gives', () => {
  const of =
    (tool: string, name: string) =>
    (code: string, changes: Partial<PlanRequest> = {}) =>
      check('', { tool, plan: { name, text: code }, ...changes })
  const k6 = of('k6', 'shop.js')
  const gatling = of('gatling', 'Shop.java')

  test('a variable of k6, with its line', () => {
    expect(k6("import http from 'k6/http'\n/* a\nb */\nconst shop = `http://${__ENV.HOST}`")).toEqual([
      "warning: shop.js, line 4, reads __ENV.HOST, and nothing gives it: it would be undefined or empty. Add -Jhost=… to override-parameters, or write a fallback: __ENV.HOST || '…'."
    ])
    expect(k6("h = { auth: __ENV['x-token'] }")).toEqual([expect.stringContaining('Add -Jx-token=… to')])
    expect(k6("h = (__ENV.TOKEN || '')")).toEqual([expect.stringContaining('Add -Jtoken=… to')])
    expect(k6('n = { duration: __ENV.DURATION }')).toEqual([
      expect.stringContaining('Set duration, or write')
    ])
  })

  test.each([
    ['a fallback', "__ENV.A || 'b'; __ENV.B ?? 5"],
    ['a fallback on the next line', "const a = __ENV.A\n  || 'b'"],
    ['a fallback after a call', 'Number(__ENV.A) || 5; parseInt(__ENV.B, 10) || 5'],
    ['a condition', "if (__ENV.A) f(__ENV.A); b = __ENV.B ? 1 : 2; c = __ENV.C === 'x'; d = !__ENV.D"],
    ['a condition on the variable it is kept in', 'const a = __ENV.A\nif (!a) throw new Error()'],
    ['a fallback of the variable it is kept in', "const a = __ENV.A\nf(a || 'b')"],
    ['an assignment', "__ENV.A = 'b'; f(__ENV.A)"],
    ['a name that is put together', '__ENV[name]; __ENV[`A_${b}`]'],
    ['a comment', '// __ENV.A\n/* __ENV.B */'],
    ['what every script gets', '__ENV.FLOOD_NODE_INDEX; __ENV.HOME'],
    ['all of them', 'const { A, B } = __ENV']
  ])('nothing is said of k6: %s', (_, code) => {
    expect(k6(code)).toEqual([])
  })

  test('what is given to k6: by a parameter, a setting, a file', () => {
    const parameters = [J('base-url')]
    expect(k6('f(__ENV.BASE_URL)', { parameters })).toEqual([])
    expect(k6('f(__ENV["base-url"])', { parameters })).toEqual([])
    expect(k6('f(__ENV.THREADS)', { threads: 5 })).toEqual([])
    expect(k6('f(__ENV.TOKEN)', { given: new Set(['TOKEN']) })).toEqual([])
  })

  test('a property of Java', () => {
    expect(gatling('class A {\n  int n = Integer.getInteger("users");\n}')).toEqual([
      'warning: Shop.java, line 2, reads Integer.getInteger("users"), and nothing gives it: it would be null. Add -Jusers=… to override-parameters, or write a fallback: Integer.getInteger("users", …).'
    ])
    expect(gatling('sys.props("users").toInt')).toEqual([
      expect.stringContaining('write a fallback: sys.props.getOrElse("users", …).')
    ])
    expect(gatling('rampUsers(Integer.getInteger("threads"))')).toEqual([
      expect.stringContaining('Set threads, or write')
    ])
  })

  test.each([
    ['a default', 'System.getProperty("a", "b")'],
    ['an option', 'Option(System.getProperty("a")).getOrElse("b")'],
    ['an optional', 'Optional.ofNullable(System.getProperty("a")).orElse("b")'],
    ['a fallback in Kotlin', 'val a = System.getProperty("a") ?: "b"'],
    ['a condition', 'String a = System.getProperty("a");\nif (a == null) a = "b";'],
    ['a property that it sets', 'System.setProperty("a", "b"); f(System.getProperty("a"))'],
    ["one of Java's own", 'System.getProperty("java.io.tmpdir")'],
    ['a name that is put together', 'System.getProperty(PREFIX + "a")']
  ])('nothing is said of Java: %s', (_, code) => {
    expect(gatling(code)).toEqual([])
  })

  test('the environment of Java', () => {
    expect(gatling('String t =\n  f(System.getenv("TENANT"));', { parameters: [J('TENANT')] })).toEqual([
      'warning: Shop.java, line 2, reads System.getenv("TENANT"), and nothing gives it: it would be null. List a file named environment under files, with the line TENANT=…, or write a fallback: System.getenv().getOrDefault("TENANT", …).'
    ])
    expect(gatling('f(System.getenv("TENANT"))', { given: new Set(['TENANT']) })).toEqual([])
    expect(gatling('f(System.getenv("WEBDRIVER_HOST"), System.getenv("HOME"))')).toEqual([])
  })

  test('the environment of a browser script', () => {
    const chrome = of('service-chrome', 'shop.ts')
    expect(chrome('visit(`https://${process.env.host}/`)')).toEqual([
      "warning: shop.ts, line 1, reads process.env.host, and nothing gives it: it would be undefined or empty. Add -Jhost=… to override-parameters, or write a fallback: process.env.host || '…'."
    ])
    expect(chrome('f(process.env.host)', { parameters: [J('host')] })).toEqual([])
    expect(chrome("f(process.env.host ?? 'a'); const { port = '80' } = process.env")).toEqual([])
  })

  test('a source of one long line takes no longer than its size', () => {
    const before = process.cpuUsage()
    expect(k6('f(__ENV.A, 1); '.repeat(50_000))).toHaveLength(1)
    expect(check(plan(header('${__P('.repeat(50_000))))).toEqual([])
    expect(check(plan(header('${__P(a,)}'.repeat(50_000))))).toHaveLength(1)
    // Time of the processor: others may be at work too.
    expect(process.cpuUsage(before).user / 1000).toBeLessThan(5_000)
  })
})
