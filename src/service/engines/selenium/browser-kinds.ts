import type { BrowserKind } from '../../programs/selenium-hub/order.js'

/** A browser and its driver: what they are called, and where they may be. */
interface Kind {
  readonly title: string
  readonly browser: Place
  readonly driver: Place
  /** Whether the driver only works with a browser of the same major version. */
  readonly isPair: boolean
  readonly advice: string
}

/** Where a program may be, in the order of preference. */
export interface Place {
  readonly title: string
  readonly variable: string
  /** A variable with the folder, which hosted runners have. */
  readonly folderVariable?: string
  readonly names: readonly string[]
  readonly files: readonly string[]
}

export const KINDS: Readonly<Record<BrowserKind, Kind>> = {
  chrome: {
    title: 'java-selenium-chrome',
    browser: {
      title: 'Chrome or Chromium',
      variable: 'CHROME',
      // The first one takes the least memory.
      names: [
        ...['chromium-headless-shell', 'chrome-headless-shell', 'google-chrome', 'google-chrome-stable'],
        ...['chromium', 'chromium-browser', 'chrome']
      ],
      files: [
        '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
        '/Applications/Chromium.app/Contents/MacOS/Chromium'
      ]
    },
    driver: {
      title: 'ChromeDriver',
      variable: 'CHROMEDRIVER',
      folderVariable: 'CHROMEWEBDRIVER',
      names: ['chromedriver'],
      files: ['/usr/lib/chromium/chromedriver', '/usr/lib/chromium-browser/chromedriver']
    },
    isPair: true,
    advice:
      '`apt-get install chromium chromium-driver` on Debian, `brew install --cask google-chrome chromedriver` on macOS; hosted runners with Ubuntu and macOS have both'
  },
  firefox: {
    title: 'java-selenium-firefox',
    browser: {
      title: 'Firefox',
      variable: 'FIREFOX',
      names: ['firefox-esr', 'firefox'],
      files: ['/Applications/Firefox.app/Contents/MacOS/firefox']
    },
    driver: {
      title: 'geckodriver',
      variable: 'GECKODRIVER',
      folderVariable: 'GECKOWEBDRIVER',
      names: ['geckodriver'],
      files: []
    },
    isPair: false,
    advice:
      '`apt-get install firefox-esr` and `cargo install geckodriver` on Debian, `brew install --cask firefox && brew install geckodriver` on macOS; hosted runners with Ubuntu and macOS have both'
  }
}
