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
