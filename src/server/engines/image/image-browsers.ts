/** Where browsers and drivers may be in an image, by the variable that names them, if they are not on its PATH. */
export const IN_OPT: Readonly<Record<string, readonly string[]>> = {
  CHROME: ['/opt/google/chrome/chrome', '/opt/chrome/chrome', '/opt/chromium/chrome'],
  CHROMEDRIVER: ['/opt/chromedriver/chromedriver', '/opt/chrome/chromedriver', '/opt/chromium/chromedriver'],
  FIREFOX: ['/opt/firefox/firefox'],
  GECKODRIVER: ['/opt/geckodriver/geckodriver', '/opt/firefox/geckodriver']
}
