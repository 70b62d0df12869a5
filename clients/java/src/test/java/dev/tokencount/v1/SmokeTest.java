package dev.tokencount.v1;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import com.google.protobuf.Any;
import com.google.protobuf.ByteString;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.rpc.BadRequest;
import com.google.rpc.ErrorInfo;
import io.grpc.ManagedChannel;
import io.grpc.ManagedChannelBuilder;
import io.grpc.StatusRuntimeException;
import io.grpc.protobuf.StatusProto;
import java.io.IOException;
import java.nio.file.Files;
import java.util.Base64;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/** The cases that all clients share, on a real server. */
final class SmokeTest {
  private static Server server;
  private static ManagedChannel channel;
  private static JsonObject cases;

  @BeforeAll
  static void start() throws IOException {
    String table = Files.readString(Server.REPOSITORY.resolve("tests/cases/clients.json"));
    cases = JsonParser.parseString(table).getAsJsonObject();
    server = new Server();
    channel = ManagedChannelBuilder.forTarget(server.address).usePlaintext().build();
  }

  @AfterAll
  static void stop() throws IOException {
    channel.shutdownNow();
    server.close();
  }

  @TestFactory
  Stream<DynamicTest> conversations() {
    return rows("conversations", SmokeTest::converse);
  }

  @TestFactory
  Stream<DynamicTest> errors() {
    return rows("errors", SmokeTest::fail);
  }

  private static void converse(JsonObject row) {
    ProviderRequest whole = prompt(row, json(row.get("body")));
    Count counted =
        stub()
            .countMessages(CountMessagesRequest.newBuilder().setProviderRequest(whole).build())
            .getCount();
    assertTrue(0 < counted.getTokens() && counted.getTokens() <= counted.getUpperBound());
    assertEquals(Source.SOURCE_ESTIMATED, counted.getSource());
    assertFalse(estimate(whole, ByteString.EMPTY).getPrefixKey().isEmpty());

    RecordActualResponse recorded =
        stub()
            .recordActual(
                RecordActualRequest.newBuilder()
                    .setProviderRequest(whole)
                    .setStatus(Status.STATUS_SUCCEEDED)
                    .setUsageJson(json(row.get("usage")))
                    .setReply(Reply.newBuilder().setJson(json(row.get("reply"))))
                    .build());
    assertTrue(recorded.getLearned());
    assertEquals(row.get("billed_tokens").getAsInt(), recorded.getBilledTokens());

    ProviderRequest next = prompt(row, json(row.get("next_body")));
    Count turn = estimate(next, recorded.getPrefixKey());
    assertEquals(Source.SOURCE_DELTA, turn.getSource());
    assertTrue(row.get("known_tokens").getAsInt() <= turn.getKnownTokens());
    assertEquals(1, turn.getNewMessages());
  }

  private static void fail(JsonObject row) throws InvalidProtocolBufferException {
    ProviderRequest prompt =
        prompt(row, ByteString.copyFromUtf8(row.get("body_text").getAsString()));
    ByteString base =
        ByteString.copyFrom(Base64.getDecoder().decode(row.get("base64").getAsString()));
    boolean counts = row.get("call").getAsString().equals("count");
    CountMessagesRequest count =
        CountMessagesRequest.newBuilder().setProviderRequest(prompt).build();
    StatusRuntimeException error =
        assertThrows(
            StatusRuntimeException.class,
            () -> {
              Object answer = counts ? stub().countMessages(count) : estimate(prompt, base);
              throw new AssertionError(answer);
            });
    assertEquals(row.get("code").getAsString(), error.getStatus().getCode().name());
    String reason = "";
    String field = "";
    for (Any detail : StatusProto.fromThrowable(error).getDetailsList()) {
      if (detail.is(ErrorInfo.class)) {
        reason = detail.unpack(ErrorInfo.class).getReason();
      } else if (detail.is(BadRequest.class)) {
        field = detail.unpack(BadRequest.class).getFieldViolations(0).getField();
      }
    }
    assertEquals(row.get("reason").getAsString(), reason);
    assertEquals(row.get("field").getAsString(), field);
  }

  private static Count estimate(ProviderRequest prompt, ByteString base) {
    return stub()
        .estimateConversation(
            EstimateConversationRequest.newBuilder()
                .setProviderRequest(prompt)
                .setBase(base)
                .build())
        .getCount();
  }

  private static TokenCounterServiceGrpc.TokenCounterServiceBlockingStub stub() {
    return TokenCounterServiceGrpc.newBlockingStub(channel).withDeadlineAfter(20, TimeUnit.SECONDS);
  }

  private static ProviderRequest prompt(JsonObject row, ByteString body) {
    return ProviderRequest.newBuilder()
        .setFormat(Format.valueOf(row.get("format").getAsString()))
        .setModel(row.get("model").getAsString())
        .setBody(body)
        .build();
  }

  private static ByteString json(JsonElement value) {
    return ByteString.copyFromUtf8(value.toString());
  }

  private interface Check {
    void run(JsonObject row) throws InvalidProtocolBufferException;
  }

  private static Stream<DynamicTest> rows(String table, Check check) {
    return StreamSupport.stream(cases.getAsJsonArray(table).spliterator(), false)
        .map(JsonElement::getAsJsonObject)
        .map(row -> DynamicTest.dynamicTest(row.get("name").getAsString(), () -> check.run(row)));
  }
}
