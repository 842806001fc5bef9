package loadgate.gatling;

import io.gatling.app.RunResult;
import io.gatling.app.RunResultProcessor;
import io.gatling.app.cli.StatusCode;
import io.gatling.core.actor.ActorSystem;
import io.gatling.core.cli.GatlingArgs;
import io.gatling.core.config.GatlingConfiguration;
import io.gatling.netty.util.Transports;
import io.netty.channel.EventLoopGroup;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.concurrent.TimeUnit;
import loadgate.rows.RowsFile;
import org.slf4j.LoggerFactory;
import scala.Option;

/**
 * Runs a simulation as Gatling's own main does, with a row for every response: RunPlan CLASS RESULTS_FOLDER ROWS_FILE
 * MARK [HOST/ADDRESS…]. Its own words start with `loadgate` and the mark, a random word, so that nothing else that is
 * printed passes for them; the last ones tell a run to the end from an exit of the plan.
 */
public final class RunPlan {
  /** A plan may replace the stream, and leave a line unfinished. */
  private static final PrintStream OUT = System.out;
  private static final int FAILED = 1;
  private static final int CLOSE_WITHIN_MS = 2000;
  /** A kill loses no more than the rows of this time. */
  private static final long FLUSH_EVERY_MS = 10;

  public static void main(String[] args) throws IOException {
    RowsFile rows = new RowsFile(args[2]);
    rows.flushEvery(FLUSH_EVERY_MS);
    // A plan may exit by itself.
    Runtime.getRuntime().addShutdownHook(new Thread(rows::flush));
    String start = "\nloadgate " + args[3] + ": ";
    int code = FAILED;
    try {
      code = run(args, rows).code();
      rows.flush();
      // A full disk, perhaps: without its rows a run is nothing.
      rows.check();
    } catch (Throwable thrown) {
      code = FAILED;
      LoggerFactory.getLogger("loadgate").error("the simulation failed", thrown);
      for (String words : Failure.describe(thrown)) OUT.println(start + "failed: " + words);
    }
    System.out.flush();
    OUT.println(start + "end of run");
    OUT.flush();
    // The plan's own threads must not keep it alive.
    System.exit(code);
  }

  private static StatusCode run(String[] args, RowsFile rows) throws IOException {
    GatlingArgs gatlingArgs = argumentsFor(args[0], Paths.get(args[1]));
    HostAliases hosts = HostAliases.read(args, 4);
    GatlingConfiguration configuration = GatlingConfiguration.load();
    ActorSystem system = new ActorSystem();
    EventLoopGroup loops = Transports.newEventLoopGroup(
        configuration.netty().useNativeTransport(), configuration.netty().useIoUring(), 0, "gatling");
    try {
      RunResult result = new RowsRunner(system, loops, gatlingArgs, configuration, rows, hosts).run();
      return new RunResultProcessor(gatlingArgs, configuration).processRunResult(result);
    } finally {
      system.close();
      loops.shutdownGracefully(0, CLOSE_WITHIN_MS, TimeUnit.MILLISECONDS).awaitUninterruptibly();
    }
  }

  private static GatlingArgs argumentsFor(String simulation, Path results) {
    boolean noReports = true;
    return new GatlingArgs(
        Option.apply(simulation), Option.empty(), noReports, Option.empty(), Option.apply(results), Option.empty(),
        Option.empty());
  }
}
