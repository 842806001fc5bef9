import io.flood.selenium.FloodSump;
import java.net.URL;
import java.time.Duration;
import org.openqa.selenium.By;
import org.openqa.selenium.MutableCapabilities;
import org.openqa.selenium.WebDriver;
import org.openqa.selenium.WebDriverException;
import org.openqa.selenium.remote.RemoteWebDriver;
import org.openqa.selenium.support.ui.ExpectedConditions;
import org.openqa.selenium.support.ui.WebDriverWait;

/** A user of the demo shop, who looks around and buys something. Runs in Chrome and in Firefox. */
public class ShopTest {
  private static final int VISITS_PER_BROWSER = 10;
  private static final Duration PATIENCE = Duration.ofSeconds(10);
  // From override-parameters, such as -Dport=8080.
  private static final String SHOP =
      "http://" + System.getProperty("host", "127.0.0.1") + ":" + Integer.getInteger("port", 8080);

  public static void main(String[] args) throws Exception {
    // The tool decides which browser this is: java-selenium-chrome or java-selenium-firefox.
    URL hub = new URL(
        "http://" + System.getenv("WEBDRIVER_HOST") + ":" + System.getenv("WEBDRIVER_PORT") + "/wd/hub");
    WebDriver driver = new RemoteWebDriver(hub, new MutableCapabilities());
    FloodSump flood = new FloodSump();
    flood.started();
    try {
      for (int visit = 0; visit < VISITS_PER_BROWSER; visit++) visitShop(driver, flood);
    } finally {
      driver.quit();
      flood.finished();
    }
  }

  /** Each transaction is a row of the results, with its time. */
  private static void visitShop(WebDriver driver, FloodSump flood) throws Exception {
    try {
      flood.start_transaction("home");
      driver.get(SHOP + "/");
      waitForHeading(driver, "Welcome to the shop");
      flood.passed_transaction(driver, "home");

      driver.findElement(By.id("term")).sendKeys("tea");
      flood.start_transaction("search");
      driver.findElement(By.id("find")).click();
      waitForHeading(driver, "2 things found");
      flood.passed_transaction(driver, "search");

      flood.start_transaction("product");
      driver.findElement(By.partialLinkText("Teapot")).click();
      waitForHeading(driver, "Teapot");
      flood.passed_transaction(driver, "product");

      driver.findElement(By.id("user")).sendKeys("ada");
      flood.start_transaction("checkout");
      driver.findElement(By.id("buy")).click();
      waitForHeading(driver, "Thank you");
      flood.passed_transaction(driver, "checkout");
    } catch (WebDriverException thrown) {
      // The transaction that was started last becomes a failed row.
      flood.webdriver_exception(driver, thrown);
    }
  }

  private static void waitForHeading(WebDriver driver, String text) {
    new WebDriverWait(driver, PATIENCE).until(ExpectedConditions.textToBe(By.tagName("h1"), text));
  }
}
