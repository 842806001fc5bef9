const IMPORTS = `import io.flood.selenium.FloodSump;
import java.net.URL;
import org.openqa.selenium.*;
import org.openqa.selenium.remote.*;
`
const HUB =
  'new URL("http://" + System.getenv("WEBDRIVER_HOST") + ":" + System.getenv("WEBDRIVER_PORT") + "/wd/hub")'

/** A script with a browser of its own, as people write them. */
export function javaPlan(
  steps: string,
  { name = 'Plan', driver = `new RemoteWebDriver(${HUB}, new MutableCapabilities())` } = {}
): string {
  return `${IMPORTS}
public class ${name} {
  public static void main(String[] args) throws Exception {
    String target = System.getProperty("target");
    WebDriver driver = ${driver};
    FloodSump flood = new FloodSump();
    flood.started();
    try {
      ${steps}
    } catch (WebDriverException thrown) {
      flood.webdriver_exception(driver, thrown);
    }
    driver.quit();
    flood.finished();
  }
}
`
}

export const HOME = `flood.start_transaction("Home"); driver.get(target + "/"); flood.passed_transaction(driver, "Home");`
export const SECOND = `flood.start_transaction("Second"); driver.findElement(By.id("next")).click(); flood.passed_transaction(driver, "Second");`
export const MISSING = `flood.start_transaction("Missing"); driver.findElement(By.id("bingo")).click();`

/** Written for Selenium 3, as many scripts of hosted services are. */
export const OLD_PLAN = javaPlan(
  `driver.manage().timeouts().implicitlyWait(1, java.util.concurrent.TimeUnit.SECONDS);
      ${HOME}`,
  { driver: `new RemoteWebDriver(${HUB}, DesiredCapabilities.firefox())` }
)

/** What says that it passed, while the browser shows an old page, another's frame, a dialog, an error, or nothing of the target. */
export const DOUBTFUL = `JavascriptExecutor page = (JavascriptExecutor) driver;
      org.openqa.selenium.support.ui.WebDriverWait wait =
        new org.openqa.selenium.support.ui.WebDriverWait(driver, java.time.Duration.ofSeconds(30));
      driver.get(target + "/"); flood.passed_transaction(driver, "Home");
      flood.start_transaction("Old page"); flood.passed_transaction(driver, "Old page");
      new FloodSump().passed_transaction(driver, "Old page");
      flood.transaction(driver, "Not passed", "False", 500, null);
      page.executeAsyncScript("var f = document.createElement('iframe'); f.onload = arguments[0]; f.src = '/second'; document.body.appendChild(f)");
      driver.switchTo().frame(0); flood.passed_transaction(driver, "In a frame");
      driver.switchTo().defaultContent(); flood.passed_transaction(driver, "Outside again");
      page.executeScript("setTimeout(function () { alert(1) })");
      wait.until(org.openqa.selenium.support.ui.ExpectedConditions.alertIsPresent());
      flood.passed_transaction(driver, "Dialog"); driver.switchTo().alert().accept();
      driver.get(target + "/nowhere"); flood.passed_transaction(driver, "Not found");
      driver.get(target + "/");
      page.executeScript("document.getElementById('next').href = arguments[0]", System.getProperty("down"));
      flood.start_transaction("Down");
      try {
        driver.findElement(By.id("next")).click();
        wait.until(shown -> shown.getCurrentUrl().startsWith(System.getProperty("down")));
      } catch (WebDriverException caught) {}
      flood.passed_transaction(driver, "Down");`

/** One test passes and one fails. */
export const JUNIT_PLAN = `import static org.junit.jupiter.api.Assertions.assertEquals;
import java.net.URL;
import org.junit.jupiter.api.*;
import org.openqa.selenium.*;
import org.openqa.selenium.remote.*;
class PagesTest {
  static WebDriver driver;
  @BeforeAll static void open() throws Exception { driver = new RemoteWebDriver(${HUB}, new MutableCapabilities()); }
  @AfterAll static void close() { driver.quit(); }
  @Test void home() { driver.get(System.getProperty("target") + "/"); assertEquals("Page /", driver.getTitle()); }
  @Test @DisplayName("Second page") void second() { driver.get(System.getProperty("target") + "/second"); assertEquals("Third", driver.getTitle()); }
}
`
