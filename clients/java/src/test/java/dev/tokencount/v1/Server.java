package dev.tokencount.v1;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/** A real server with an empty store. */
final class Server implements AutoCloseable {
  static final Path REPOSITORY = Path.of("../..").toAbsolutePath().normalize();

  private final Path directory = Files.createTempDirectory("tokencount-");
  private final Process process;

  /** The address that it listens on. */
  final String address;

  Server() throws IOException {
    String command =
        Optional.ofNullable(System.getenv("TOKENCOUNTD"))
            .orElse(REPOSITORY.resolve(".venv/bin/tokencountd").toString());
    List<String> arguments = new ArrayList<>(List.of(command.split(" ")));
    arguments.addAll(
        List.of("serve", "--listen", "127.0.0.1:0", "--data-dir", directory.toString()));
    process =
        new ProcessBuilder(arguments).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    String line = process.inputReader().readLine();
    address = line.substring(line.lastIndexOf(' ') + 1);
  }

  /** Stops it by SIGTERM. */
  @Override
  public void close() throws IOException {
    process.destroy();
    try {
      if (!process.waitFor(20, TimeUnit.SECONDS) || process.exitValue() != 0) {
        throw new IOException("the server did not end well: " + process);
      }
    } catch (InterruptedException error) {
      throw new IOException(error);
    }
    try (var files = Files.walk(directory)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(file);
      }
    }
  }
}
