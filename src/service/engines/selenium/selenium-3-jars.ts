// The hashes are filled in by `npm run generate -- jar-lists`, from the coordinates.
import type { JarList } from '../install/jars/jar-list.js'

export const SELENIUM_3_JARS: JarList = {
  name: 'selenium-3.141.59',
  jars: [
    'com.google.code.findbugs:jsr305:1.3.9 905721a0eea90a81534abb7ee6ef4ea2e5e645fa1def0a5cd88402df1b46c9ed',
    'com.google.errorprone:error_prone_annotations:2.1.3 03d0329547c13da9e17c634d1049ea2ead093925e290567e1a364fd6b1fc7ff8',
    'com.google.guava:guava:25.0-jre 3fd4341776428c7e0e5c18a7c10de129475b69ab9d30aeafbb5c277bb6074fa9',
    'com.google.j2objc:j2objc-annotations:1.1 2994a7eb78f2710bd3d3bfb639b2c94e219cedac0d4d084d516e78c16dddecf6',
    'com.squareup.okhttp3:okhttp:3.11.0 e27c7742448f816da1cac72b4ca283b0d7920749e09f5dd0ac017e40714a2efe',
    'com.squareup.okio:okio:1.14.0 4633c331f50642ebe795dc089d6a5928aff43071c9d17e7840a009eea2fe95a3',
    'commons-io:commons-io:2.20.0 df90bba0fe3cb586b7f164e78fe8f8f4da3f2dd5c27fa645f888100ccc25dd72',
    'junit:junit:4.13.2 8e495b634469d64fb8acfa3495a065cbacc8a0fff55ce1e31007be4c16dc57d3',
    'net.bytebuddy:byte-buddy:1.8.15 af32e420b1252c1eedef6232bd46fadafc02e0c609e086efd57a64781107a039',
    'org.apache.commons:commons-exec:1.3 cb49812dc1bfb0ea4f20f398bcae1a88c6406e213e67f7524fb10d4f8ad9347b',
    'org.apiguardian:apiguardian-api:1.1.2 b509448ac506d607319f182537f0b35d71007582ec741832a1f111e5b5b70b38',
    'org.checkerframework:checker-compat-qual:2.0.0 a40b2ce6d8551e5b90b1bf637064303f32944d61b52ab2014e38699df573941b',
    'org.codehaus.mojo:animal-sniffer-annotations:1.14 2068320bd6bad744c3673ab048f67e30bef8f518996fa380033556600669905d',
    'org.hamcrest:hamcrest-core:1.3 66fdef91e9739348df7a096aa384a5685f4e875584cce89386a7a47251c4d8e9',
    'org.junit.jupiter:junit-jupiter-api:5.13.4 d1bb81abfd9e03418306b4e6a3390c8db52c58372e749c2980ac29f0c08278f1',
    'org.junit.jupiter:junit-jupiter-engine:5.13.4 027404a92fe618b72465792a257951495c503a7d5751e2791e0f51c87f67f5bc',
    'org.junit.jupiter:junit-jupiter-params:5.13.4 3a8c6365716dbb698c0d49a05456c1e1ad05c406613c550f9dd50037872efc41',
    'org.junit.jupiter:junit-jupiter:5.13.4 b960f79217dd01c863031b678f07df4730bbf1eac650c74ad6b0c61faad78379',
    'org.junit.platform:junit-platform-commons:1.13.4 1c25ca641ebaae44ff3ad21ca1b2ef68d0dd84bfeb07c4805ba7840899b77408',
    'org.junit.platform:junit-platform-console:1.13.4 addb79920568274b655cdcbb38481ba65f5ba06e8fac5b44c75ee8a3caac25f7',
    'org.junit.platform:junit-platform-engine:1.13.4 390c5f77b84283a64b644f88251b397e0b0debb80bdcc50f899881aecff43a5a',
    'org.junit.platform:junit-platform-launcher:1.13.4 0b0beaeb6880a31149641d2d848b863712885469670c12099586d7f798522564',
    'org.junit.platform:junit-platform-reporting:1.13.4 7ebeb4ad2d39a61507623e4c6185651c2bcf560dd378f13229ed2492847c21f6',
    'org.opentest4j.reporting:open-test-reporting-tooling-spi:0.2.3 f0d54b46fb9e503b22abc65c45a48025aad16051903aaed11f6d974129f74252',
    'org.opentest4j:opentest4j:1.3.0 48e2df636cab6563ced64dcdff8abb2355627cb236ef0bf37598682ddf742f1b',
    'org.seleniumhq.selenium:selenium-api:3.141.59 8bfd5a736eccfc08866301ffc9b7f529e55976355c5799bed8392486df64dee5',
    'org.seleniumhq.selenium:selenium-chrome-driver:3.141.59 716948b82695f2acb82f9aed23bc2b421714bb0966364146ef62b2cfae276dd0',
    'org.seleniumhq.selenium:selenium-edge-driver:3.141.59 73b2dbcf5715838a31b577dd29f1a90813105375b38d6f72c59b17cd118aaa75',
    'org.seleniumhq.selenium:selenium-firefox-driver:3.141.59 3e6edcb1e96a207bf98865cf4a56f0e1e2ffc478da2cf056644aec1c89c51fea',
    'org.seleniumhq.selenium:selenium-ie-driver:3.141.59 8b719a285a9404099a7ae310a849bc43aceed020b9571a6c8c80d096fcd455b2',
    'org.seleniumhq.selenium:selenium-java:3.141.59 30e1912664e7d30183bc7968cff910bd637ce407e7558c0b6db79928d1d3290a',
    'org.seleniumhq.selenium:selenium-opera-driver:3.141.59 ba68eb05e527669c27d0634ad2605dd628d9a21aa78fc893dbba416502dc1eb5',
    'org.seleniumhq.selenium:selenium-remote-driver:3.141.59 9829fe57adf36743d785d0c2e7db504ba3ba0a3aacac652b8867cc854d2dfc45',
    'org.seleniumhq.selenium:selenium-safari-driver:3.141.59 5c1a63252c86f353a2025e37144f9c60f20c1bbab16c8f8454f99ff271604806',
    'org.seleniumhq.selenium:selenium-support:3.141.59 2c74196d15277ce6003454d72fc3434091dbf3ba65060942719ba551509404d8'
  ]
}
