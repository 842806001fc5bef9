package loadgate.fetch;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import javax.inject.Inject;
import javax.inject.Named;
import javax.inject.Singleton;
import org.apache.maven.AbstractMavenLifecycleParticipant;
import org.apache.maven.MavenExecutionException;
import org.apache.maven.execution.MavenSession;
import org.eclipse.aether.RepositorySystem;
import org.eclipse.aether.artifact.DefaultArtifact;
import org.eclipse.aether.repository.RemoteRepository;
import org.eclipse.aether.resolution.ArtifactRequest;
import org.eclipse.aether.resolution.ArtifactResolutionException;
import org.eclipse.aether.resolution.ArtifactResult;

/**
 * Lets Maven download a pinned list of artifacts, many at once, and copy them into a folder. It uses the repositories,
 * mirrors, proxies and credentials of the user's settings, but neither a plugin nor the POMs of the artifacts, which is what
 * takes a build so long.
 *
 * <p>Properties: {@code loadgate.fetch.list} (a file with coordinates, one per line), {@code loadgate.fetch.to} (a folder)
 * and {@code loadgate.fetch.outcome} (see {@link Outcome}).
 */
@Named("loadgate-fetch")
@Singleton
public class FetchJars extends AbstractMavenLifecycleParticipant {
  private final RepositorySystem system;

  @Inject
  public FetchJars(RepositorySystem system) {
    this.system = system;
  }

  @Override
  public void afterProjectsRead(MavenSession session) throws MavenExecutionException {
    Properties given = session.getUserProperties();
    if (given.getProperty("loadgate.fetch.list") == null) {
      return;
    }
    Path list = Paths.get(given.getProperty("loadgate.fetch.list"));
    Path to = Paths.get(given.getProperty("loadgate.fetch.to"));
    Outcome outcome = new Outcome(Paths.get(given.getProperty("loadgate.fetch.outcome")));
    try {
      List<String> coordinates = Files.readAllLines(list, StandardCharsets.UTF_8);
      // The first one alone: without a network, or with a wrong password, the others need not be tried.
      resolve(session, coordinates.subList(0, 1));
      List<ArtifactResult> results = resolve(session, coordinates);
      for (ArtifactResult result : results) {
        copy(result.getArtifact().getFile().toPath(), to);
      }
      outcome.writeFetched(results.size());
    } catch (ArtifactResolutionException thrown) {
      outcome.writeMissing(thrown.getResults());
      throw new MavenExecutionException(thrown.getMessage(), thrown);
    } catch (IOException thrown) {
      outcome.writeFailed(thrown);
      throw new MavenExecutionException(thrown.toString(), thrown);
    }
  }

  private List<ArtifactResult> resolve(MavenSession session, List<String> coordinates)
      throws ArtifactResolutionException {
    List<RemoteRepository> repositories = session.getCurrentProject().getRemoteProjectRepositories();
    List<ArtifactRequest> requests = new ArrayList<>();
    for (String each : coordinates) {
      requests.add(new ArtifactRequest(new DefaultArtifact(each), repositories, null));
    }
    return system.resolveArtifacts(session.getRepositorySession(), requests);
  }

  private static void copy(Path file, Path to) throws IOException {
    Files.copy(file, to.resolve(file.getFileName()), StandardCopyOption.REPLACE_EXISTING);
  }
}
