package loadgate.gatling;

import io.gatling.commons.stats.Status;
import io.gatling.core.actor.ActorRef;
import io.gatling.core.controller.Controller;
import io.gatling.core.session.GroupBlock;
import io.gatling.core.stats.StatsEngine;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import loadgate.rows.Row;
import loadgate.rows.RowsFile;
import scala.Option;
import scala.collection.immutable.List;

/** Writes a row for every response, then passes it on to Gatling's own statistics. */
final class RowsStatsEngine implements StatsEngine {
  private final StatsEngine gatling;
  private final RowsFile rows;
  private final AtomicInteger allUsers = new AtomicInteger();
  private final ConcurrentHashMap<String, Users> usersByScenario = new ConcurrentHashMap<>();

  RowsStatsEngine(StatsEngine gatling, RowsFile rows) {
    this.gatling = gatling;
    this.rows = rows;
  }

  @Override
  public void logResponse(String scenario, List<String> groups, String name, long startMs, long endMs, Status status,
      Option<String> code, Option<String> message) {
    // A negative end marks an incoming message that answers no request.
    if (endMs >= 0) {
      Row row = newRow(scenario, groups, name, startMs, endMs);
      row.isSuccess = "OK".equals(status.name());
      row.responseCode = orEmpty(code);
      row.responseMessage = status.name();
      row.failureMessage = row.isSuccess ? "" : orEmpty(message);
      rows.add(row);
    }
    gatling.logResponse(scenario, groups, name, startMs, endMs, status, code, message);
  }

  /** The request could not be built, so nothing was sent; it counts as failed, for the load asked for it. */
  @Override
  public void logRequestCrash(String scenario, List<String> groups, String name, String error) {
    long nowMs = System.currentTimeMillis();
    Row row = newRow(scenario, groups, name, nowMs, nowMs);
    row.isSuccess = false;
    row.responseMessage = "Not sent";
    row.failureMessage = error;
    rows.add(row);
    gatling.logRequestCrash(scenario, groups, name, error);
  }

  /** Gatling does not say which user got the response, only in which scenario; users are named as JMeter names its threads. */
  private Row newRow(String scenario, List<String> groups, String name, long startMs, long endMs) {
    Row row = new Row();
    row.startMs = startMs;
    row.elapsedMs = endMs - startMs;
    row.label = groups.isEmpty() ? name : groups.mkString(" / ") + " / " + name;
    Users users = usersOf(scenario);
    row.groupThreads = users.active.get();
    row.threadName = users.nameOf(users.numbers.of(startMs, endMs, row.groupThreads));
    row.allThreads = allUsers.get();
    return row;
  }

  private Users usersOf(String scenario) {
    Users known = usersByScenario.get(scenario);
    return known != null ? known : usersByScenario.computeIfAbsent(scenario, Users::new);
  }

  /** The users of a scenario. */
  private static final class Users {
    final AtomicInteger active = new AtomicInteger();
    final UserNumbers numbers = new UserNumbers();
    private final ConcurrentHashMap<Integer, String> names = new ConcurrentHashMap<>();
    private final String scenario;

    Users(String scenario) {
      this.scenario = scenario;
    }

    String nameOf(int number) {
      String known = names.get(number);
      return known != null ? known : names.computeIfAbsent(number, each -> scenario + " 1-" + each);
    }
  }

  private static String orEmpty(Option<String> text) {
    return text.isDefined() ? text.get() : "";
  }

  @Override
  public void logUserStart(String scenario) {
    allUsers.incrementAndGet();
    usersOf(scenario).active.incrementAndGet();
    gatling.logUserStart(scenario);
  }

  @Override
  public void logUserEnd(String scenario) {
    allUsers.decrementAndGet();
    usersOf(scenario).active.decrementAndGet();
    gatling.logUserEnd(scenario);
  }

  @Override
  public void logGroupEnd(String scenario, GroupBlock group, long exitMs) {
    gatling.logGroupEnd(scenario, group, exitMs);
  }

  @Override
  public void start() {
    gatling.start();
  }

  @Override
  public void stop(ActorRef<Controller.Command> controller, Option<Exception> crash) {
    gatling.stop(controller, crash);
  }
}
