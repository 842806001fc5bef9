import { describe, expect, test } from '@jest/globals'
import { type LogEntry, type LogFindings, LossFinder } from '../../../../src/service/engines/jmeter/losses.js'
import { readStops } from '../../../../src/service/plans/thread-groups.js'
import { readPlanTree } from '../../../../src/analysis/plans/jmx/plan-tree.js'
import * as plans from '../../../support/data/jmeter-plans.js'

const place = {
  folder: '/data/nodes/g-1',
  files: new Set(['plan.jmx', 'users.csv']),
  samplesFile: '/data/nodes/g-1.csv',
  stops: new Set<string>()
}

/** Entries as `LEVEL logger: message`, then the exception's lines. */
function findIn(...entries: readonly (string | readonly [string, string, string?])[]): LogFindings {
  const finder = new LossFinder(place)
  for (const entry of entries) {
    const [head, exception = '', rootCause = ''] = typeof entry === 'string' ? [entry] : entry
    const [level = '', ...words] = head.split(' ')
    finder.push({ level, text: words.join(' '), exception, rootCause } satisfies LogEntry)
  }
  return finder.end()
}

describe('load that was not generated', () => {
  test.each<{ name: string; entry: string | readonly [string, string, string?]; loss: string }>([
    {
      name: 'a data file of the upload in a folder that is put together at run time',
      entry: ['ERROR o.a.j.x.Y: no', 'java.nio.file.NoSuchFileException: /data/nodes/g-1/data/users.csv'],
      loss: 'could not read data/users.csv; users.csv was uploaded next to the plan, without its folder: refer to it as users.csv in the plan'
    },
    {
      name: 'the same, where JMeter tells its name only',
      entry: [
        'ERROR o.a.j.t.JMeterThread: Test failed!',
        'java.lang.IllegalArgumentException: File users.csv must exist and be readable'
      ],
      loss: 'could not read users.csv; users.csv was uploaded next to the plan, without its folder: refer to it as users.csv in the plan'
    },
    {
      name: 'a file elsewhere on the machine',
      entry: [
        'ERROR o.a.j.x.Y: no',
        'java.io.FileNotFoundException: /srv/rows.csv (No such file or directory)'
      ],
      loss: 'could not read /srv/rows.csv; is it listed under files?'
    },
    {
      name: 'a file that a script reads',
      entry: [
        'ERROR o.a.j.m.JSR223PreProcessor: Problem in JSR223 script, pre',
        'javax.script.ScriptException: java.io.FileNotFoundException: body.json (No such file or directory)'
      ],
      loss: 'could not read body.json; is it listed under files?'
    },
    {
      name: 'a BeanShell script file',
      entry:
        'ERROR o.a.j.u.BeanShellInterpreter: Error invoking bsh method: source\t/data/nodes/g-1/no.bsh (No such file or directory)',
      loss: 'could not read no.bsh; is it listed under files?'
    },
    {
      name: 'an include whose plan cannot be read',
      entry: [
        'WARN o.a.j.c.IncludeController: Including file "login.jmx" failed for Include Controller "inc", unexpected error',
        'java.lang.IllegalArgumentException: Problem loading XML'
      ],
      loss: 'could not include login.jmx ("Problem loading XML")'
    },
    {
      name: 'a data set in an encoding that is none',
      entry: 'ERROR o.a.j.c.CSVDataSet: java.io.UnsupportedEncodingException: NOPE-8',
      loss: 'could not read a data set ("java.io.UnsupportedEncodingException: NOPE-8")'
    },
    {
      name: 'a thread that ends',
      entry: [
        'ERROR o.a.j.t.JMeterThread: Test failed!',
        'java.lang.IllegalArgumentException: Filename must not be null'
      ],
      loss: 'a thread ended with an error ("Filename must not be null")'
    },
    {
      name: 'a thread that ends, with the innermost reason',
      entry: ['ERROR o.a.j.t.JMeterThread: Test failed!', 'a.B: outer', 'java.io.IOException: inner'],
      loss: 'a thread ended with an error ("inner")'
    },
    {
      name: 'a thread that ends without a word',
      entry: 'ERROR o.a.j.t.JMeterThread: Test failed!',
      loss: 'a thread ended with an error (no reason given)'
    },
    {
      name: 'a thread that ends by an error of Java, on a newer Java',
      entry: [
        'ERROR o.a.j.JMeter: Uncaught exception in thread Thread[#41,bad 2-1,5,main]',
        'java.lang.StackOverflowError'
      ],
      loss: 'a thread ended with an error ("java.lang.StackOverflowError")'
    },
    {
      name: 'memory that ran out, wherever',
      entry: ['ERROR o.a.j.p.X: oh', 'java.lang.OutOfMemoryError: unable to create native thread'],
      loss: 'ran out of memory ("java.lang.OutOfMemoryError: unable to create native thread"); give it more, for example HEAP=-Xmx2g'
    },
    {
      name: 'a request without a row',
      entry: [
        "ERROR o.a.j.t.JMeterThread: Error while processing sampler: 'home'.",
        'java.lang.NullPointerException: x'
      ],
      loss: 'a request of home was not sent, or not recorded ("x")'
    },
    {
      name: 'a function that is called in a wrong way',
      entry: [
        'ERROR o.a.j.e.StandardJMeterEngine: Error occurred compiling the tree:',
        'java.lang.RuntimeException: org.apache.jmeter.functions.InvalidVariableException: __Random called with wrong number of parameters'
      ],
      loss: 'could not start the plan ("__Random called with wrong number of parameters")'
    },
    {
      name: 'a condition that cannot be evaluated',
      entry: [
        'ERROR o.a.j.c.IfController: has stock: error while processing [${stock} == 3 && (]',
        'org.mozilla.javascript.EvaluatorException: missing ; before statement (<cmd>#1)'
      ],
      loss: 'could not evaluate the condition of has stock ("${stock} == 3 && (")'
    },
    {
      name: 'a condition of more than one line',
      entry: [
        'ERROR o.a.j.c.IfController: has stock: error while processing [${stock} ==',
        '3 && (]',
        'org.mozilla.javascript.EvaluatorException: missing ; before statement (<cmd>#1)'
      ],
      loss: 'could not evaluate the condition of has stock ("${stock} ==")'
    },
    ...['Jexl2', 'Jexl3'].map((kind) => ({
      name: `an expression of ${kind}`,
      entry: [
        `ERROR o.a.j.f.${kind}Function: An error occurred while evaluating the expression "\${unknown} < "`,
        'org.apache.commons.jexl3.JexlException$Parsing: parsing error'
      ] as const,
      loss: 'could not evaluate an expression ("${unknown} <")'
    })),
    {
      name: 'an expression of JavaScript',
      entry: [
        'ERROR o.a.j.f.JavaScript: Error processing Javascript: [nothing.foo == 3]',
        'org.mozilla.javascript.EcmaError: ReferenceError: "nothing" is not defined. (<cmd>#1)'
      ],
      loss: 'could not evaluate an expression ("nothing.foo == 3")'
    },
    {
      name: 'an expression of Groovy',
      entry: [
        'WARN o.a.j.f.Groovy: Error running groovy script',
        'javax.script.ScriptException: javax.script.ScriptException: groovy.lang.MissingPropertyException: No such property: nothing for class: Script2',
        'groovy.lang.MissingPropertyException: No such property: nothing for class: Script2'
      ],
      loss: 'could not evaluate an expression of __groovy ("No such property: nothing for class: Script")'
    },
    {
      name: 'a file that an expression of Groovy reads',
      entry: [
        'WARN o.a.j.f.Groovy: Error running groovy script',
        'javax.script.ScriptException: javax.script.ScriptException: java.io.FileNotFoundException: g.txt (No such file or directory)'
      ],
      loss: 'could not read g.txt; is it listed under files?'
    },
    {
      name: 'a thread that ends, in a layout that has the thread first',
      entry: ['ERROR [buyers 1-1] o.a.j.t.JMeterThread: Test failed!', 'a.BException: x'],
      loss: 'a thread ended with an error ("x")'
    },
    {
      name: 'an expression of BeanShell',
      entry: [
        'WARN o.a.j.f.BeanShell: Error running BSH script',
        "org.apache.jorphan.util.JMeterException: Error invoking bsh method: eval\tIn file: inline evaluation of: ``nothing.foo == == 3;''",
        'bsh.ParseException: Encountered "=="'
      ],
      loss: 'could not evaluate an expression of __BeanShell ("Encountered "=="")'
    },
    {
      name: 'a thread group that does not start',
      entry:
        'ERROR o.a.j.u.JMeterUtils: Error occurred starting thread group :buyers, error message:Invalid duration 0, see log',
      loss: 'could not start the thread group buyers ("Invalid duration 0, see log")'
    },
    {
      name: 'an exception that stops the test',
      entry:
        'INFO o.a.j.t.JMeterThread: Stopping Test: org.apache.jorphan.util.JMeterStopTestException: login failed',
      loss: 'the test was stopped before its end ("login failed")'
    },
    {
      name: 'samples that could not be written',
      entry: `WARN o.a.j.r.ResultCollector: Problem detected during use of ${place.samplesFile}`,
      loss: 'could not write all of its samples; is the disk full?'
    }
  ])('$name', ({ entry, loss }) => {
    expect(findIn(entry)).toMatchObject({ losses: [`JMeter: ${loss}`], notes: [] })
  })
})

describe('the stop that a plan asks for after a failed sample', () => {
  const handler = (action: string, enabled = 'true'): string =>
    `<ResultAction guiclass="ResultActionGui" testname="stop" enabled="${enabled}">\n  <intProp name="OnError.action">${action}</intProp>\n</ResultAction><hashTree/>`

  test.each([
    { plan: handler('1'), actions: ['Stop Thread'] },
    { plan: handler('2'), actions: ['Shutdown Test'] },
    { plan: handler('3'), actions: ['Stop Test Now'] },
    { plan: handler('${__P(action)}'), actions: ['Stop Thread', 'Shutdown Test', 'Stop Test Now'] },
    { plan: handler('0') + handler('4') + handler('5'), actions: [] },
    { plan: handler('3', 'false') + handler('1'), actions: ['Stop Thread'] }
  ])('by a Result Status Action Handler: $actions', ({ plan, actions }) => {
    expect([...readStops(readPlanTree(plans.makePlan(plan)) ?? [])]).toEqual(actions)
  })

  const WHOLE = 'JMeter: the whole test stopped after a failed sample, as'
  const THREAD = 'JMeter: a thread of buyers stopped after a failed sample, as the plan says'
  const starting = (group: string, action: string): string[] => [
    `Starting 4 threads for group ${group}.`,
    `${action} on error`
  ]
  const buyers = (action: string): string[] => [
    ...starting('visitors', 'Thread will continue'),
    ...starting('buyers', action),
    ...starting('others', 'Thread will start next loop')
  ]
  test.each([
    {
      said: buyers('Test will stop'),
      line: 'Shutdown Test',
      losses: [`${WHOLE} the thread group buyers says`]
    },
    {
      said: buyers('Test will stop abruptly'),
      line: 'Stop Test Now',
      losses: [`${WHOLE} the thread group buyers says`]
    },
    { said: buyers('Thread will stop'), line: 'Stop Thread', losses: [THREAD] },
    // A script has asked for it: this is how the plan ends.
    { said: buyers('Thread will continue'), line: 'Shutdown Test', losses: [] },
    // Another group stops on errors, not this one.
    { said: starting('others', 'Thread will stop'), line: 'Stop Thread', losses: [] },
    { actions: ['Stop Thread'], line: 'Stop Thread', losses: [THREAD] },
    {
      actions: ['Shutdown Test'],
      line: 'Shutdown Test',
      losses: [`${WHOLE} a Result Status Action Handler of the plan says`]
    },
    { actions: ['Shutdown Test'], line: 'Stop Test Now', losses: [] }
  ])('$line after $said with handlers $actions', ({ said = [], actions = [], line, losses }) => {
    const finder = new LossFinder({ ...place, stops: new Set(actions) })
    const texts = said.map((words) => `o.a.j.e.StandardJMeterEngine: ${words}`)
    for (const text of [...texts, `o.a.j.t.JMeterThread: ${line} detected by thread: buyers 1-1`])
      finder.push({ level: 'INFO', text, exception: '', rootCause: '' })
    expect(finder.end().losses).toEqual(losses)
  })
})

describe('no loss', () => {
  test.each<{ name: string; entry: string | readonly [string, string, string?]; isNoted: boolean }>([
    { name: 'an extractor', entry: "ERROR o.a.j.e.RegexExtractor: Error in pattern: '(('", isNoted: true },
    {
      name: 'an assertion that quotes a server',
      entry: [
        'ERROR o.a.j.a.JSR223Assertion: Problem in JSR223 script: as',
        'javax.script.ScriptException: java.lang.AssertionError: got <java.io.FileNotFoundException: x.csv>'
      ],
      isNoted: true
    },
    {
      name: 'words of a script that look like those of JMeter',
      entry: 'ERROR o.a.j.m.J.my script: Test failed! java.lang.OutOfMemoryError in the answer',
      isNoted: true
    },
    ...[
      'o.a.j.p.j.s.J.opt',
      'o.a.j.m.J.my script: x',
      'o.a.j.m.J.a.b.JMeterThread',
      'org.apache.jmeter.modifiers.JSR223PreProcessor.my script',
      'o.a.j.u.BeanShellTestElement',
      'o.a.j.f.Groovy',
      'o.a.j.f.BeanShell',
      'o.a.j.f.JavaScript',
      'o.a.j.f.Jexl3Function',
      'o.a.j.f.LogFunction',
      'o.a.j.f.LogFunction2',
      'shop.checkout'
    ].flatMap((logger) =>
      [
        ['no optional file', 'java.io.FileNotFoundException: optional.txt (No such file or directory)'],
        ['File users.csv must exist and be readable', ''],
        ['quoted', 'java.lang.IllegalArgumentException: File users.csv must exist and be readable'],
        ['JMeterThread: Test failed!', 'java.lang.OutOfMemoryError: x'],
        ['Uncaught exception in thread Thread[buyers 1-1,5,main]', '']
      ].map(([words = '', exception = '']) => ({
        name: `what a script says to ${logger}: ${words}`,
        entry: [`ERROR ${logger}: ${words}`, exception] as const,
        isNoted: true
      }))
    ),
    {
      name: 'a script that JMeter quotes',
      entry:
        'ERROR o.a.j.u.BeanShellInterpreter: Error invoking bsh method: eval\tSourced file: inline evaluation of: ``log.warn("File users.csv must exist and be readable");',
      isNoted: true
    },
    {
      name: 'a thread that the plan has started itself',
      entry: [
        'ERROR o.a.j.JMeter: Uncaught exception in thread Thread[Thread-3,5,main]',
        'java.lang.RuntimeException: x'
      ],
      isNoted: true
    },
    {
      name: 'a page that is not there, which Java calls a file',
      entry: ['ERROR o.a.j.p.h.X: no', 'java.io.FileNotFoundException: http://127.0.0.1/missing'],
      isNoted: true
    },
    {
      name: 'a listener without its class',
      entry: [
        'ERROR o.a.j.v.b.BackendListener: x\tException initialising: a.B',
        'java.lang.ClassNotFoundException: a.B'
      ],
      isNoted: true
    },
    {
      name: "a listener's own file",
      entry: 'WARN o.a.j.r.ResultCollector: Problem detected during use of /tmp/other.jtl',
      isNoted: false
    },
    {
      name: 'the end of a data file',
      entry:
        'INFO o.a.j.t.JMeterThread: Stop Thread seen for thread a 1-1, reason: org.apache.jorphan.util.JMeterStopThreadException: End of file',
      isNoted: false
    },
    {
      name: 'an include, where its warning tells',
      entry:
        "ERROR o.a.j.c.IncludeController: Include Controller 'inc' can't load 'login.jmx' - see log for details",
      isNoted: false
    },
    {
      name: 'what a plan says in passing',
      entry: 'INFO o.a.j.m.J.s: File users.csv must exist and be readable',
      isNoted: false
    }
  ])('$name', ({ entry, isNoted }) => {
    const { losses, notes } = findIn(entry)
    expect([losses, notes.length]).toEqual([[], isNoted ? 1 : 0])
  })
})

test('equal sentences are combined with a count', () => {
  const entry = ['ERROR o.a.j.t.JMeterThread: Test failed!', 'a.BException: x'] as const
  expect(findIn(entry, entry, entry).losses).toEqual(['JMeter: a thread ended with an error ("x") (3 times)'])
})

test('as many sentences as there are samples are cut', () => {
  const entries = Array.from(
    { length: 1000 },
    (_, i) => ['ERROR o.a.j.t.JMeterThread: Test failed!', `a.BException: ${i} ${'x'.repeat(2000)}`] as const
  )
  const { losses } = findIn(...entries)
  expect(losses).toHaveLength(20)
  expect(losses.join('\n').length).toBeLessThan(10_000)
})
