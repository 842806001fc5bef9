package loadgate.gatling;

import io.gatling.app.SimulationClass;
import io.gatling.core.config.GatlingConfiguration;
import io.gatling.core.scenario.SimulationParams;

/** A plan whose HTTP protocols resolve some hosts to other addresses. */
@SuppressWarnings("serial")
final class AliasedSimulation extends SimulationClass {
  private final SimulationClass plan;
  private final HostAliases hosts;
  private final GatlingConfiguration configuration;

  AliasedSimulation(SimulationClass plan, HostAliases hosts, GatlingConfiguration configuration) {
    super(plan.getClass());
    this.plan = plan;
    this.hosts = hosts;
    this.configuration = configuration;
  }

  @Override
  public SimulationParams params() {
    SimulationParams params = plan.params();
    return new SimulationParams(
        params.name(), hosts.applyTo(params.rootPopulationBuilders()),
        hosts.applyToGlobal(params.globalProtocols(), configuration), params.globalPauseType(),
        params.globalThrottleSteps(), params.maxDuration(), params.assertions(), params.before(), params.after());
  }

  @Override
  public String simpleName() {
    return plan.simpleName();
  }

  @Override
  public boolean canEqual(Object other) {
    return other instanceof AliasedSimulation;
  }

  @Override
  public int productArity() {
    return 1;
  }

  @Override
  public Object productElement(int index) {
    return plan;
  }
}
