package loadgate.gatling;

import io.gatling.app.Runner;
import io.gatling.app.Selection;
import io.gatling.commons.util.DefaultClock;
import io.gatling.core.CoreComponents;
import io.gatling.core.actor.ActorSystem;
import io.gatling.core.cli.GatlingArgs;
import io.gatling.core.config.GatlingConfiguration;
import io.gatling.core.controller.inject.PopulationFlows;
import io.gatling.core.scenario.Population;
import io.gatling.core.scenario.SimulationParams;
import io.gatling.core.stats.StatsEngine;
import io.gatling.core.stats.writer.RunMessage;
import io.netty.channel.EventLoopGroup;
import loadgate.rows.RowsFile;
import scala.Tuple4;

/** Gatling's runner with rows, and with other addresses for some hosts. */
final class RowsRunner extends Runner {
  private final GatlingConfiguration configuration;
  private final RowsFile rows;
  private final HostAliases hosts;

  RowsRunner(ActorSystem system, EventLoopGroup loops, GatlingArgs args, GatlingConfiguration configuration,
      RowsFile rows, HostAliases hosts) {
    super(system, loops, new DefaultClock(), args, configuration);
    this.configuration = configuration;
    this.rows = rows;
    this.hosts = hosts;
  }

  @Override
  public StatsEngine newStatsEngine(SimulationParams params, RunMessage message) {
    return new RowsStatsEngine(super.newStatsEngine(params, message), rows);
  }

  @Override
  public Tuple4<SimulationParams, RunMessage, CoreComponents, PopulationFlows<String, Population>> load(
      Selection selection) {
    if (hosts.isEmpty()) return super.load(selection);
    AliasedSimulation aliased = new AliasedSimulation(selection.simulationClass(), hosts, configuration);
    return super.load(new Selection(aliased, selection.simulationId(), selection.description()));
  }

  /** It asks Gatling's site for a newer version, which is none of a plan's traffic. */
  @Override
  public void displayVersionWarning() {}
}
