import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { findBrowserInImage } from '../../../../src/service/engines/browser/browser.js'
import { findGatlingInImage } from '../../../../src/service/engines/gatling/gatling.js'
import { readVariables } from '../../../../src/service/engines/image/image-program.js'
import { findJMeterInImage } from '../../../../src/service/engines/jmeter/jmeter.js'
import { searchJavac } from '../../../../src/service/engines/javac.js'
import type { InstallPorts } from '../../../../src/service/engines/install/run-to-end.js'
import { findSeleniumInImage } from '../../../../src/service/engines/selenium/selenium.js'
import { createFolders } from '../../support.js'
import { JAVA_17, LocalImage } from './local-image.js'

const folders = createFolders()
let image: LocalImage
beforeEach(() => {
  image = new LocalImage(folders.create())
})
afterEach(() => folders.remove())

/** A Java that prints its own version and that of the JMeter that it is to run. */
function installJava(path = 'usr/bin/java', jmeterVersion = '5.6.3'): void {
  image.install(path, JAVA_17, `_____ ${jmeterVersion}`)
}

function installJMeter(home: string): void {
  image.write(`${home}/bin/ApacheJMeter.jar`)
  image.install(`${home}/bin/jmeter`)
}

test('variables are read as they are: empty, with spaces, of several lines, or not at all', async () => {
  image.env.HEAP = ''
  image.env.JVM_ARGS = '-Da=b  $(exit 9)\n-Dc="d e"'
  image.env.OTHER = 'not asked for'
  expect(await readVariables(image, ['HEAP', 'JVM_ARGS', 'JAVA_HOME'])).toEqual({
    HEAP: '',
    JVM_ARGS: '-Da=b  $(exit 9)\n-Dc="d e"'
  })
})

describe('JMeter', () => {
  test.each([
    { where: 'JMETER_HOME', home: '/srv/my jmeter', env: { JMETER_HOME: '/srv/my jmeter' } },
    { where: 'a link on the PATH', home: '/usr/share/apache-jmeter', env: {} },
    { where: '/opt/jmeter', home: '/opt/jmeter', env: {} }
  ])('of $where, started with the image’s Java', async ({ where, home, env }) => {
    Object.assign(image.env, env)
    installJava()
    installJMeter(home)
    installJMeter('/opt/jmeter')
    const links = where === 'a link on the PATH' ? ['usr/bin/jmeter'] : []
    for (const link of links) image.link(link, `${home}/bin/jmeter`)
    const found = await findJMeterInImage(image)
    expect(found).toMatchObject({
      ...{ file: '/usr/bin/java', version: '5.6.3', origin: `${home} of ${image.name}`, image: image.name }
    })
    expect(found.args.slice(-2)).toEqual(['-jar', `${home}/bin/ApacheJMeter.jar`])
  })

  test('its heap is a share of the node’s memory, unless the image says otherwise', async () => {
    image.env.JAVA_HOME = '/srv/java'
    image.env.JVM_ARGS = '-Dshop=yes'
    installJava('srv/java/bin/java')
    installJMeter('/opt/jmeter')
    const found = await findJMeterInImage(image)
    const gb = 1024 ** 3
    expect(found.argsFor?.({ memoryBytes: 2 * gb })).toEqual(
      expect.arrayContaining(['-Xms1228m', '-Xmx1228m', '-Dshop=yes'])
    )
    expect(found.argsFor?.({})).toEqual(expect.arrayContaining(['-Xms1g', '-Xmx1g']))
    image.env.HEAP = '-Xmx5g'
    const own = (await findJMeterInImage(image))
      .argsFor?.({ memoryBytes: 2 * gb })
      .filter((arg) => arg.startsWith('-Xm'))
    expect(own).toEqual(['-Xmx5g'])
  })

  test.each([
    {
      what: 'no JMeter at all',
      home: undefined,
      words:
        /There is no JMeter in the image shop\/node:1: JMETER_HOME is not set, there is no jmeter on its PATH, and none in \/opt\/jmeter; use an image that has one/
    },
    {
      what: 'a JMETER_HOME that leads nowhere',
      home: '/gone',
      words: /In the image shop\/node:1 JMETER_HOME is \/gone, but there is no bin\/ApacheJMeter\.jar in it/
    }
  ])('$what', async ({ home, words }) => {
    installJava()
    Object.assign(image.env, home === undefined ? {} : { JMETER_HOME: home })
    await expect(findJMeterInImage(image)).rejects.toThrow(words)
  })

  test('no Java, or one that does not run', async () => {
    installJMeter('/opt/jmeter')
    await expect(findJMeterInImage(image)).rejects.toThrow(
      'JMeter needs Java, and the image shop/node:1 has none: there is no java on its PATH'
    )
    image.env.JAVA_HOME = '/gone'
    await expect(findJMeterInImage(image)).rejects.toThrow(/JAVA_HOME is \/gone, where there is no bin\/java/)
    image.env.JAVA_HOME = ''
    image.install('usr/bin/java', 'exec format error')
    await expect(findJMeterInImage(image)).rejects.toThrow(/does not print its version.*exec format error/)
  })
})

describe('Gatling', () => {
  const CORE = 'gatling-core-3.15.0.jar'
  test.each([
    { where: 'GATLING_HOME', home: '/srv/gatling', env: { GATLING_HOME: '/srv/gatling' }, links: [] },
    { where: 'gatling.sh on the PATH', home: '/srv/gatling', env: {}, links: ['usr/bin/gatling.sh'] },
    { where: '/opt/gatling', home: '/opt/gatling', env: {}, links: [] }
  ])('of $where', async ({ home, env, links }) => {
    Object.assign(image.env, env)
    installJava()
    for (const jar of [CORE, 'gatling-core-java-3.15.0.jar']) image.write(`${home}/lib/${jar}`)
    image.install(`${home}/bin/gatling.sh`)
    for (const link of links) image.link(link, `${home}/bin/gatling.sh`)
    expect(await findGatlingInImage(image)).toMatchObject({
      ...{ java: '/usr/bin/java', version: '17.0.16', major: 17 },
      gatling: { version: '3.15.0', lib: `${home}/lib` }
    })
  })

  test('none: then it can be copied there; a GATLING_HOME that leads nowhere is not ignored', async () => {
    installJava()
    expect((await findGatlingInImage(image)).gatling).toBeUndefined()
    image.env.GATLING_HOME = '/gone'
    await expect(findGatlingInImage(image)).rejects.toThrow(
      /GATLING_HOME is \/gone, but there is no gatling-core/
    )
  })
})

describe('the compiler of Java', () => {
  const { inImage } = searchJavac({} as InstallPorts, 'Gatling')

  test('is started as a module, which some JREs have too', async () => {
    image.install('usr/bin/java', JAVA_17, 'java.base@17.0.16', 'jdk.compiler@17.0.16')
    const javac = ['/usr/bin/java', '-m', 'jdk.compiler/com.sun.tools.javac.Main']
    expect(await inImage(image)).toEqual({ javac })
  })

  test('is missing: the plan cannot be compiled where it runs', async () => {
    image.install('usr/bin/java', JAVA_17, 'java.base@17.0.16')
    await expect(inImage(image)).rejects.toThrow(
      'Gatling compiles the plan in the pod that runs it, and /usr/bin/java of the image shop/node:1 has no compiler (no module jdk.compiler, exit code 0): use an image with a JDK 17'
    )
  })
})

describe('Selenium', () => {
  beforeEach(() => {
    installJava()
    image.install('usr/bin/node', 'v24.1.0')
  })

  test('the pair that fits, on the PATH or by a variable', async () => {
    image.install('usr/bin/chromium', 'Chromium 140.0.1')
    image.install('usr/bin/chromedriver', 'ChromeDriver 140.0.7339.80')
    expect(await findSeleniumInImage('chrome', image)).toMatchObject({
      ...{ java: '/usr/bin/java', node: '/usr/bin/node' },
      browser: {
        program: { file: '/usr/bin/chromium', name: 'Chromium 140.0.1' },
        driver: { file: '/usr/bin/chromedriver', major: 140 }
      }
    })
    image.env.CHROME = '/srv/chrome'
    image.install('srv/chrome', 'Google Chrome 141.0.1')
    await expect(findSeleniumInImage('chrome', image)).rejects.toThrow(
      /same major version, and there are Google Chrome 141\.0\.1 \(\/srv\/chrome\) and ChromeDriver 140.*use another image than the image shop\/node:1/
    )
  })

  test('what is missing is named, with the image', async () => {
    image.install('opt/firefox/firefox', 'Mozilla Firefox 140.1')
    await expect(findSeleniumInImage('firefox', image)).rejects.toThrow(
      /java-selenium-firefox needs geckodriver, and the image shop\/node:1 has none on its PATH \(geckodriver\): use an image that has it, or set GECKODRIVER/
    )
    image.env.GECKODRIVER = '/gone'
    await expect(findSeleniumInImage('firefox', image)).rejects.toThrow(/GECKODRIVER is \/gone/)
  })
})

describe('service-chrome', () => {
  test('Node and a browser', async () => {
    image.install('opt/node/bin/node', 'v22.0.0')
    image.install('usr/bin/google-chrome', 'Google Chrome 141.0.2.3')
    expect(await findBrowserInImage(image)).toEqual({
      ...{ image: image.name, node: '/opt/node/bin/node' },
      browser: {
        ...{ path: '/usr/bin/google-chrome', version: 'Google Chrome 141.0.2.3', origin: 'on the PATH' }
      }
    })
  })

  test('what is missing is named, with the image', async () => {
    await expect(findBrowserInImage(image)).rejects.toThrow(
      'service-chrome needs Node, and the image shop/node:1 has none'
    )
    image.install('usr/bin/node', 'v18.2.0')
    await expect(findBrowserInImage(image)).rejects.toThrow(
      /Node 20 or later, and \/usr\/bin\/node of .* is v18/
    )
    image.install('usr/bin/node', 'v24.2.0')
    await expect(findBrowserInImage(image)).rejects.toThrow(
      /There is no Chrome or Chromium in the image shop/
    )
  })

  test.each([
    { origin: 'from CHROME', env: { CHROME: '/srv/own', CHROME_BIN: '/srv/other' }, path: '/srv/own' },
    { origin: 'from CHROME_BIN', env: { CHROME_BIN: '/srv/own' }, path: '/srv/own' },
    { origin: 'in /opt', env: {}, path: '/opt/chrome/chrome' }
  ])('a browser $origin', async ({ origin, env, path }) => {
    image.install('usr/bin/node', 'v24.2.0')
    Object.assign(image.env, env)
    image.install(path, 'a warning', 'Chromium 141.0.2')
    expect((await findBrowserInImage(image)).browser).toMatchObject({
      path,
      origin,
      version: 'Chromium 141.0.2'
    })
  })

  test('a variable that leads nowhere, and a browser that does not start', async () => {
    image.install('usr/bin/node', 'v24.2.0')
    image.env.CHROME_BIN = '/gone'
    await expect(findBrowserInImage(image)).rejects.toThrow(
      'In the image shop/node:1 CHROME_BIN is /gone, but there is no program'
    )
    image.install('usr/bin/chromium')
    await expect(findBrowserInImage(image)).rejects.toThrow('does not start (exit code 0): no output; use an')
    image.write('usr/bin/chromium', '#!/bin/sh\necho Chromium 1.2.3\nexit 3\n')
    await expect(findBrowserInImage(image)).rejects.toThrow(
      '(on the PATH) does not start (exit code 3): Chromium'
    )
  })
})
