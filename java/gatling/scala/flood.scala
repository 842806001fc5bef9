import scala.concurrent.duration.FiniteDuration

import io.gatling.commons.stats.assertion.Assertion
import io.gatling.core.Predef._
import io.gatling.core.assertion.AssertionWithPathAndTarget
import io.gatling.core.controller.inject.open.{ OpenInjectionBuilder, OpenInjectionStep }
import io.gatling.http.Predef._
import io.gatling.http.protocol.HttpProtocolBuilder
import io.gatling.http.request.builder.HttpRequestBuilder

/**
 * What scripts written for a hosted service import (`import flood._`), and the names of Gatling 2 that they use. A package,
 * so that plans in any package can import it. Compiled with them, so that no Scala compiler is needed to build the project.
 */
package object flood {
  val httpConfigFlood: HttpProtocolBuilder = http

  implicit class OldProtocol(val builder: HttpProtocolBuilder) extends AnyVal {
    def baseURL(url: String): HttpProtocolBuilder = builder.baseUrl(url)
    def baseURLs(urls: String*): HttpProtocolBuilder = builder.baseUrls(urls: _*)
  }

  implicit class OldRequest(val builder: HttpRequestBuilder) extends AnyVal {
    def asJSON: HttpRequestBuilder = builder.asJson
    def asXML: HttpRequestBuilder = builder.asXml
  }

  implicit class OldRamp(val builder: OpenInjectionBuilder.Ramp) extends AnyVal {
    def over(duration: FiniteDuration): OpenInjectionStep = builder.during(duration)
  }

  implicit class OldPeak(val builder: OpenInjectionBuilder.StressPeak) extends AnyVal {
    def over(duration: FiniteDuration): OpenInjectionStep = builder.during(duration)
  }

  def heavisideUsers(users: Int): OpenInjectionBuilder.StressPeak = stressPeakUsers(users)

  implicit class OldAssertion[T: Numeric](builder: AssertionWithPathAndTarget[T]) {
    def lessThan(threshold: T): Assertion = builder.lt(threshold)
    def greaterThan(threshold: T): Assertion = builder.gt(threshold)
  }
}
