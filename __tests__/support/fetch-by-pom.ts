import { mkdtemp, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type InstallPorts, runToEnd } from '../../src/service/engines/install/run-to-end.js'
import { mavenEnvironment } from '../../src/service/engines/tool-environment.js'

const JMETER_VERSION = '5.6.3'

/** Every module of the real distribution. */
const MODULES = [
  'ApacheJMeter',
  'ApacheJMeter_bolt',
  'ApacheJMeter_components',
  'ApacheJMeter_core',
  'ApacheJMeter_ftp',
  'ApacheJMeter_functions',
  'ApacheJMeter_http',
  'ApacheJMeter_java',
  'ApacheJMeter_jdbc',
  'ApacheJMeter_jms',
  'ApacheJMeter_junit',
  'ApacheJMeter_ldap',
  'ApacheJMeter_mail',
  'ApacheJMeter_mongodb',
  'ApacheJMeter_native',
  'ApacheJMeter_tcp',
  'jorphan'
]

/** Not a library: its `bin` holds the properties and templates that JMeter reads. */
const CONFIG_MODULE = 'ApacheJMeter_config'

const dependencyOf = (module: string): string => `
    <dependency>
      <groupId>org.apache.jmeter</groupId>
      <artifactId>${module}</artifactId>
      <version>${JMETER_VERSION}</version>
    </dependency>`

/**
 * Copies the jars to `loadgate.jars` and the configuration to `bin` in `loadgate.home`. Imports JMeter's own list of third-party versions:
 * otherwise Maven would choose other versions than the distribution has.
 */
const JMETER_POM = `<?xml version="1.0" encoding="UTF-8"?>
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>loadgate</groupId>
  <artifactId>jmeter</artifactId>
  <version>${JMETER_VERSION}</version>
  <packaging>pom</packaging>
  <dependencyManagement>
    <dependencies>
      <dependency>
        <groupId>org.apache.jmeter</groupId>
        <artifactId>ApacheJMeter_bom-thirdparty</artifactId>
        <version>${JMETER_VERSION}</version>
        <type>pom</type>
        <scope>import</scope>
      </dependency>
    </dependencies>
  </dependencyManagement>
  <dependencies>${[...MODULES, CONFIG_MODULE].map(dependencyOf).join('')}
  </dependencies>
  <build>
    <plugins>
      <plugin>
        <groupId>org.apache.maven.plugins</groupId>
        <artifactId>maven-dependency-plugin</artifactId>
        <version>3.8.1</version>
        <executions>
          <execution>
            <id>jars</id>
            <phase>generate-resources</phase>
            <goals><goal>copy-dependencies</goal></goals>
            <configuration>
              <includeScope>runtime</includeScope>
              <excludeArtifactIds>${CONFIG_MODULE}</excludeArtifactIds>
              <outputDirectory>\${loadgate.jars}</outputDirectory>
            </configuration>
          </execution>
          <execution>
            <id>configuration</id>
            <phase>generate-resources</phase>
            <goals><goal>unpack-dependencies</goal></goals>
            <configuration>
              <includeArtifactIds>${CONFIG_MODULE}</includeArtifactIds>
              <includes>bin/**</includes>
              <outputDirectory>\${loadgate.home}</outputDirectory>
              <markersDirectory>\${project.basedir}/markers</markersDirectory>
            </configuration>
          </execution>
        </executions>
      </plugin>
    </plugins>
  </build>
</project>
`

interface PomRequest {
  readonly maven: string
  /** Where the jars go. */
  readonly jars: string
  /** Its `bin` gets the configuration. */
  readonly home: string
  /** For files that are needed meanwhile. */
  readonly work: string
}

/** Lets Maven download JMeter as the dependencies of a project: any Maven can, but it reads some 400 POMs for it. */
export async function fetchByPom(
  { maven, jars, home, work }: PomRequest,
  ports: InstallPorts
): Promise<void> {
  const project = await mkdtemp(join(work, 'maven-'))
  await writeFile(join(project, 'pom.xml'), JMETER_POM)
  const env = mavenEnvironment(ports.env)
  const { code, lines } = await runToEnd(
    {
      file: maven,
      args: ['-B', `-Dloadgate.jars=${jars}`, `-Dloadgate.home=${home}`, 'generate-resources'],
      cwd: project,
      env
    },
    ports
  )
  ports.signal.throwIfAborted()
  if (code === 0) return
  throw new Error(`Maven could not download JMeter: ${lines.slice(-20).join('\n')}`)
}
