package dev.tokencount.v1;

import static io.grpc.MethodDescriptor.generateFullMethodName;

/**
 * <pre>
 * TokenCounterService tells how many tokens a provider will bill for a prompt.
 * Every error carries a `google.rpc.ErrorInfo` with the domain "tokencount.v1" and one of the
 * reasons of ErrorReason; an error in a field also carries a `google.rpc.BadRequest` with its path.
 * </pre>
 */
@io.grpc.stub.annotations.GrpcGenerated
public final class TokenCounterServiceGrpc {

  private TokenCounterServiceGrpc() {}

  public static final java.lang.String SERVICE_NAME = "tokencount.v1.TokenCounterService";

  // Static method descriptors that strictly reflect the proto.
  private static volatile io.grpc.MethodDescriptor<dev.tokencount.v1.CountMessagesRequest,
      dev.tokencount.v1.CountMessagesResponse> getCountMessagesMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "CountMessages",
      requestType = dev.tokencount.v1.CountMessagesRequest.class,
      responseType = dev.tokencount.v1.CountMessagesResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<dev.tokencount.v1.CountMessagesRequest,
      dev.tokencount.v1.CountMessagesResponse> getCountMessagesMethod() {
    io.grpc.MethodDescriptor<dev.tokencount.v1.CountMessagesRequest, dev.tokencount.v1.CountMessagesResponse> getCountMessagesMethod;
    if ((getCountMessagesMethod = TokenCounterServiceGrpc.getCountMessagesMethod) == null) {
      synchronized (TokenCounterServiceGrpc.class) {
        if ((getCountMessagesMethod = TokenCounterServiceGrpc.getCountMessagesMethod) == null) {
          TokenCounterServiceGrpc.getCountMessagesMethod = getCountMessagesMethod =
              io.grpc.MethodDescriptor.<dev.tokencount.v1.CountMessagesRequest, dev.tokencount.v1.CountMessagesResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "CountMessages"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.tokencount.v1.CountMessagesRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.tokencount.v1.CountMessagesResponse.getDefaultInstance()))
              .setSchemaDescriptor(new TokenCounterServiceMethodDescriptorSupplier("CountMessages"))
              .build();
        }
      }
    }
    return getCountMessagesMethod;
  }

  private static volatile io.grpc.MethodDescriptor<dev.tokencount.v1.CountMessagesStreamRequest,
      dev.tokencount.v1.CountMessagesStreamResponse> getCountMessagesStreamMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "CountMessagesStream",
      requestType = dev.tokencount.v1.CountMessagesStreamRequest.class,
      responseType = dev.tokencount.v1.CountMessagesStreamResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.BIDI_STREAMING)
  public static io.grpc.MethodDescriptor<dev.tokencount.v1.CountMessagesStreamRequest,
      dev.tokencount.v1.CountMessagesStreamResponse> getCountMessagesStreamMethod() {
    io.grpc.MethodDescriptor<dev.tokencount.v1.CountMessagesStreamRequest, dev.tokencount.v1.CountMessagesStreamResponse> getCountMessagesStreamMethod;
    if ((getCountMessagesStreamMethod = TokenCounterServiceGrpc.getCountMessagesStreamMethod) == null) {
      synchronized (TokenCounterServiceGrpc.class) {
        if ((getCountMessagesStreamMethod = TokenCounterServiceGrpc.getCountMessagesStreamMethod) == null) {
          TokenCounterServiceGrpc.getCountMessagesStreamMethod = getCountMessagesStreamMethod =
              io.grpc.MethodDescriptor.<dev.tokencount.v1.CountMessagesStreamRequest, dev.tokencount.v1.CountMessagesStreamResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.BIDI_STREAMING)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "CountMessagesStream"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.tokencount.v1.CountMessagesStreamRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.tokencount.v1.CountMessagesStreamResponse.getDefaultInstance()))
              .setSchemaDescriptor(new TokenCounterServiceMethodDescriptorSupplier("CountMessagesStream"))
              .build();
        }
      }
    }
    return getCountMessagesStreamMethod;
  }

  private static volatile io.grpc.MethodDescriptor<dev.tokencount.v1.EstimateConversationRequest,
      dev.tokencount.v1.EstimateConversationResponse> getEstimateConversationMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "EstimateConversation",
      requestType = dev.tokencount.v1.EstimateConversationRequest.class,
      responseType = dev.tokencount.v1.EstimateConversationResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<dev.tokencount.v1.EstimateConversationRequest,
      dev.tokencount.v1.EstimateConversationResponse> getEstimateConversationMethod() {
    io.grpc.MethodDescriptor<dev.tokencount.v1.EstimateConversationRequest, dev.tokencount.v1.EstimateConversationResponse> getEstimateConversationMethod;
    if ((getEstimateConversationMethod = TokenCounterServiceGrpc.getEstimateConversationMethod) == null) {
      synchronized (TokenCounterServiceGrpc.class) {
        if ((getEstimateConversationMethod = TokenCounterServiceGrpc.getEstimateConversationMethod) == null) {
          TokenCounterServiceGrpc.getEstimateConversationMethod = getEstimateConversationMethod =
              io.grpc.MethodDescriptor.<dev.tokencount.v1.EstimateConversationRequest, dev.tokencount.v1.EstimateConversationResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "EstimateConversation"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.tokencount.v1.EstimateConversationRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.tokencount.v1.EstimateConversationResponse.getDefaultInstance()))
              .setSchemaDescriptor(new TokenCounterServiceMethodDescriptorSupplier("EstimateConversation"))
              .build();
        }
      }
    }
    return getEstimateConversationMethod;
  }

  private static volatile io.grpc.MethodDescriptor<dev.tokencount.v1.RecordActualRequest,
      dev.tokencount.v1.RecordActualResponse> getRecordActualMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "RecordActual",
      requestType = dev.tokencount.v1.RecordActualRequest.class,
      responseType = dev.tokencount.v1.RecordActualResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<dev.tokencount.v1.RecordActualRequest,
      dev.tokencount.v1.RecordActualResponse> getRecordActualMethod() {
    io.grpc.MethodDescriptor<dev.tokencount.v1.RecordActualRequest, dev.tokencount.v1.RecordActualResponse> getRecordActualMethod;
    if ((getRecordActualMethod = TokenCounterServiceGrpc.getRecordActualMethod) == null) {
      synchronized (TokenCounterServiceGrpc.class) {
        if ((getRecordActualMethod = TokenCounterServiceGrpc.getRecordActualMethod) == null) {
          TokenCounterServiceGrpc.getRecordActualMethod = getRecordActualMethod =
              io.grpc.MethodDescriptor.<dev.tokencount.v1.RecordActualRequest, dev.tokencount.v1.RecordActualResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "RecordActual"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.tokencount.v1.RecordActualRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.tokencount.v1.RecordActualResponse.getDefaultInstance()))
              .setSchemaDescriptor(new TokenCounterServiceMethodDescriptorSupplier("RecordActual"))
              .build();
        }
      }
    }
    return getRecordActualMethod;
  }

  /**
   * Creates a new async stub that supports all call types for the service
   */
  public static TokenCounterServiceStub newStub(io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<TokenCounterServiceStub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<TokenCounterServiceStub>() {
        @java.lang.Override
        public TokenCounterServiceStub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new TokenCounterServiceStub(channel, callOptions);
        }
      };
    return TokenCounterServiceStub.newStub(factory, channel);
  }

  /**
   * Creates a new blocking-style stub that supports all types of calls on the service
   */
  public static TokenCounterServiceBlockingV2Stub newBlockingV2Stub(
      io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<TokenCounterServiceBlockingV2Stub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<TokenCounterServiceBlockingV2Stub>() {
        @java.lang.Override
        public TokenCounterServiceBlockingV2Stub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new TokenCounterServiceBlockingV2Stub(channel, callOptions);
        }
      };
    return TokenCounterServiceBlockingV2Stub.newStub(factory, channel);
  }

  /**
   * Creates a new blocking-style stub that supports unary and streaming output calls on the service
   */
  public static TokenCounterServiceBlockingStub newBlockingStub(
      io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<TokenCounterServiceBlockingStub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<TokenCounterServiceBlockingStub>() {
        @java.lang.Override
        public TokenCounterServiceBlockingStub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new TokenCounterServiceBlockingStub(channel, callOptions);
        }
      };
    return TokenCounterServiceBlockingStub.newStub(factory, channel);
  }

  /**
   * Creates a new ListenableFuture-style stub that supports unary calls on the service
   */
  public static TokenCounterServiceFutureStub newFutureStub(
      io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<TokenCounterServiceFutureStub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<TokenCounterServiceFutureStub>() {
        @java.lang.Override
        public TokenCounterServiceFutureStub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new TokenCounterServiceFutureStub(channel, callOptions);
        }
      };
    return TokenCounterServiceFutureStub.newStub(factory, channel);
  }

  /**
   * <pre>
   * TokenCounterService tells how many tokens a provider will bill for a prompt.
   * Every error carries a `google.rpc.ErrorInfo` with the domain "tokencount.v1" and one of the
   * reasons of ErrorReason; an error in a field also carries a `google.rpc.BadRequest` with its path.
   * </pre>
   */
  public interface AsyncService {

    /**
     * <pre>
     * CountMessages counts a prompt as it stands. It remembers nothing.
     * </pre>
     */
    default void countMessages(dev.tokencount.v1.CountMessagesRequest request,
        io.grpc.stub.StreamObserver<dev.tokencount.v1.CountMessagesResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getCountMessagesMethod(), responseObserver);
    }

    /**
     * <pre>
     * CountMessagesStream counts a data set: one answer for each request, in their order. A request
     * that can't be counted is answered with an error and the stream goes on. The server reads no
     * faster than it counts, and a tenant's limits slow a stream down where they would refuse a call.
     * </pre>
     */
    default io.grpc.stub.StreamObserver<dev.tokencount.v1.CountMessagesStreamRequest> countMessagesStream(
        io.grpc.stub.StreamObserver<dev.tokencount.v1.CountMessagesStreamResponse> responseObserver) {
      return io.grpc.stub.ServerCalls.asyncUnimplementedStreamingCall(getCountMessagesStreamMethod(), responseObserver);
    }

    /**
     * <pre>
     * EstimateConversation counts only what is new since the longest prefix that is known.
     * </pre>
     */
    default void estimateConversation(dev.tokencount.v1.EstimateConversationRequest request,
        io.grpc.stub.StreamObserver<dev.tokencount.v1.EstimateConversationResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getEstimateConversationMethod(), responseObserver);
    }

    /**
     * <pre>
     * RecordActual remembers what the provider billed. It may be repeated without harm, and what it
     * has acknowledged survives a crash.
     * </pre>
     */
    default void recordActual(dev.tokencount.v1.RecordActualRequest request,
        io.grpc.stub.StreamObserver<dev.tokencount.v1.RecordActualResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getRecordActualMethod(), responseObserver);
    }
  }

  /**
   * Base class for the server implementation of the service TokenCounterService.
   * <pre>
   * TokenCounterService tells how many tokens a provider will bill for a prompt.
   * Every error carries a `google.rpc.ErrorInfo` with the domain "tokencount.v1" and one of the
   * reasons of ErrorReason; an error in a field also carries a `google.rpc.BadRequest` with its path.
   * </pre>
   */
  public static abstract class TokenCounterServiceImplBase
      implements io.grpc.BindableService, AsyncService {

    @java.lang.Override public final io.grpc.ServerServiceDefinition bindService() {
      return TokenCounterServiceGrpc.bindService(this);
    }
  }

  /**
   * A stub to allow clients to do asynchronous rpc calls to service TokenCounterService.
   * <pre>
   * TokenCounterService tells how many tokens a provider will bill for a prompt.
   * Every error carries a `google.rpc.ErrorInfo` with the domain "tokencount.v1" and one of the
   * reasons of ErrorReason; an error in a field also carries a `google.rpc.BadRequest` with its path.
   * </pre>
   */
  public static final class TokenCounterServiceStub
      extends io.grpc.stub.AbstractAsyncStub<TokenCounterServiceStub> {
    private TokenCounterServiceStub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected TokenCounterServiceStub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new TokenCounterServiceStub(channel, callOptions);
    }

    /**
     * <pre>
     * CountMessages counts a prompt as it stands. It remembers nothing.
     * </pre>
     */
    public void countMessages(dev.tokencount.v1.CountMessagesRequest request,
        io.grpc.stub.StreamObserver<dev.tokencount.v1.CountMessagesResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getCountMessagesMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * CountMessagesStream counts a data set: one answer for each request, in their order. A request
     * that can't be counted is answered with an error and the stream goes on. The server reads no
     * faster than it counts, and a tenant's limits slow a stream down where they would refuse a call.
     * </pre>
     */
    public io.grpc.stub.StreamObserver<dev.tokencount.v1.CountMessagesStreamRequest> countMessagesStream(
        io.grpc.stub.StreamObserver<dev.tokencount.v1.CountMessagesStreamResponse> responseObserver) {
      return io.grpc.stub.ClientCalls.asyncBidiStreamingCall(
          getChannel().newCall(getCountMessagesStreamMethod(), getCallOptions()), responseObserver);
    }

    /**
     * <pre>
     * EstimateConversation counts only what is new since the longest prefix that is known.
     * </pre>
     */
    public void estimateConversation(dev.tokencount.v1.EstimateConversationRequest request,
        io.grpc.stub.StreamObserver<dev.tokencount.v1.EstimateConversationResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getEstimateConversationMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * RecordActual remembers what the provider billed. It may be repeated without harm, and what it
     * has acknowledged survives a crash.
     * </pre>
     */
    public void recordActual(dev.tokencount.v1.RecordActualRequest request,
        io.grpc.stub.StreamObserver<dev.tokencount.v1.RecordActualResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getRecordActualMethod(), getCallOptions()), request, responseObserver);
    }
  }

  /**
   * A stub to allow clients to do synchronous rpc calls to service TokenCounterService.
   * <pre>
   * TokenCounterService tells how many tokens a provider will bill for a prompt.
   * Every error carries a `google.rpc.ErrorInfo` with the domain "tokencount.v1" and one of the
   * reasons of ErrorReason; an error in a field also carries a `google.rpc.BadRequest` with its path.
   * </pre>
   */
  public static final class TokenCounterServiceBlockingV2Stub
      extends io.grpc.stub.AbstractBlockingStub<TokenCounterServiceBlockingV2Stub> {
    private TokenCounterServiceBlockingV2Stub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected TokenCounterServiceBlockingV2Stub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new TokenCounterServiceBlockingV2Stub(channel, callOptions);
    }

    /**
     * <pre>
     * CountMessages counts a prompt as it stands. It remembers nothing.
     * </pre>
     */
    public dev.tokencount.v1.CountMessagesResponse countMessages(dev.tokencount.v1.CountMessagesRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getCountMessagesMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * CountMessagesStream counts a data set: one answer for each request, in their order. A request
     * that can't be counted is answered with an error and the stream goes on. The server reads no
     * faster than it counts, and a tenant's limits slow a stream down where they would refuse a call.
     * </pre>
     */
    @io.grpc.ExperimentalApi("https://github.com/grpc/grpc-java/issues/10918")
    public io.grpc.stub.BlockingClientCall<dev.tokencount.v1.CountMessagesStreamRequest, dev.tokencount.v1.CountMessagesStreamResponse>
        countMessagesStream() {
      return io.grpc.stub.ClientCalls.blockingBidiStreamingCall(
          getChannel(), getCountMessagesStreamMethod(), getCallOptions());
    }

    /**
     * <pre>
     * EstimateConversation counts only what is new since the longest prefix that is known.
     * </pre>
     */
    public dev.tokencount.v1.EstimateConversationResponse estimateConversation(dev.tokencount.v1.EstimateConversationRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getEstimateConversationMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * RecordActual remembers what the provider billed. It may be repeated without harm, and what it
     * has acknowledged survives a crash.
     * </pre>
     */
    public dev.tokencount.v1.RecordActualResponse recordActual(dev.tokencount.v1.RecordActualRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getRecordActualMethod(), getCallOptions(), request);
    }
  }

  /**
   * A stub to allow clients to do limited synchronous rpc calls to service TokenCounterService.
   * <pre>
   * TokenCounterService tells how many tokens a provider will bill for a prompt.
   * Every error carries a `google.rpc.ErrorInfo` with the domain "tokencount.v1" and one of the
   * reasons of ErrorReason; an error in a field also carries a `google.rpc.BadRequest` with its path.
   * </pre>
   */
  public static final class TokenCounterServiceBlockingStub
      extends io.grpc.stub.AbstractBlockingStub<TokenCounterServiceBlockingStub> {
    private TokenCounterServiceBlockingStub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected TokenCounterServiceBlockingStub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new TokenCounterServiceBlockingStub(channel, callOptions);
    }

    /**
     * <pre>
     * CountMessages counts a prompt as it stands. It remembers nothing.
     * </pre>
     */
    public dev.tokencount.v1.CountMessagesResponse countMessages(dev.tokencount.v1.CountMessagesRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getCountMessagesMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * EstimateConversation counts only what is new since the longest prefix that is known.
     * </pre>
     */
    public dev.tokencount.v1.EstimateConversationResponse estimateConversation(dev.tokencount.v1.EstimateConversationRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getEstimateConversationMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * RecordActual remembers what the provider billed. It may be repeated without harm, and what it
     * has acknowledged survives a crash.
     * </pre>
     */
    public dev.tokencount.v1.RecordActualResponse recordActual(dev.tokencount.v1.RecordActualRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getRecordActualMethod(), getCallOptions(), request);
    }
  }

  /**
   * A stub to allow clients to do ListenableFuture-style rpc calls to service TokenCounterService.
   * <pre>
   * TokenCounterService tells how many tokens a provider will bill for a prompt.
   * Every error carries a `google.rpc.ErrorInfo` with the domain "tokencount.v1" and one of the
   * reasons of ErrorReason; an error in a field also carries a `google.rpc.BadRequest` with its path.
   * </pre>
   */
  public static final class TokenCounterServiceFutureStub
      extends io.grpc.stub.AbstractFutureStub<TokenCounterServiceFutureStub> {
    private TokenCounterServiceFutureStub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected TokenCounterServiceFutureStub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new TokenCounterServiceFutureStub(channel, callOptions);
    }

    /**
     * <pre>
     * CountMessages counts a prompt as it stands. It remembers nothing.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<dev.tokencount.v1.CountMessagesResponse> countMessages(
        dev.tokencount.v1.CountMessagesRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getCountMessagesMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * EstimateConversation counts only what is new since the longest prefix that is known.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<dev.tokencount.v1.EstimateConversationResponse> estimateConversation(
        dev.tokencount.v1.EstimateConversationRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getEstimateConversationMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * RecordActual remembers what the provider billed. It may be repeated without harm, and what it
     * has acknowledged survives a crash.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<dev.tokencount.v1.RecordActualResponse> recordActual(
        dev.tokencount.v1.RecordActualRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getRecordActualMethod(), getCallOptions()), request);
    }
  }

  private static final int METHODID_COUNT_MESSAGES = 0;
  private static final int METHODID_ESTIMATE_CONVERSATION = 1;
  private static final int METHODID_RECORD_ACTUAL = 2;
  private static final int METHODID_COUNT_MESSAGES_STREAM = 3;

  private static final class MethodHandlers<Req, Resp> implements
      io.grpc.stub.ServerCalls.UnaryMethod<Req, Resp>,
      io.grpc.stub.ServerCalls.ServerStreamingMethod<Req, Resp>,
      io.grpc.stub.ServerCalls.ClientStreamingMethod<Req, Resp>,
      io.grpc.stub.ServerCalls.BidiStreamingMethod<Req, Resp> {
    private final AsyncService serviceImpl;
    private final int methodId;

    MethodHandlers(AsyncService serviceImpl, int methodId) {
      this.serviceImpl = serviceImpl;
      this.methodId = methodId;
    }

    @java.lang.Override
    @java.lang.SuppressWarnings("unchecked")
    public void invoke(Req request, io.grpc.stub.StreamObserver<Resp> responseObserver) {
      switch (methodId) {
        case METHODID_COUNT_MESSAGES:
          serviceImpl.countMessages((dev.tokencount.v1.CountMessagesRequest) request,
              (io.grpc.stub.StreamObserver<dev.tokencount.v1.CountMessagesResponse>) responseObserver);
          break;
        case METHODID_ESTIMATE_CONVERSATION:
          serviceImpl.estimateConversation((dev.tokencount.v1.EstimateConversationRequest) request,
              (io.grpc.stub.StreamObserver<dev.tokencount.v1.EstimateConversationResponse>) responseObserver);
          break;
        case METHODID_RECORD_ACTUAL:
          serviceImpl.recordActual((dev.tokencount.v1.RecordActualRequest) request,
              (io.grpc.stub.StreamObserver<dev.tokencount.v1.RecordActualResponse>) responseObserver);
          break;
        default:
          throw new AssertionError();
      }
    }

    @java.lang.Override
    @java.lang.SuppressWarnings("unchecked")
    public io.grpc.stub.StreamObserver<Req> invoke(
        io.grpc.stub.StreamObserver<Resp> responseObserver) {
      switch (methodId) {
        case METHODID_COUNT_MESSAGES_STREAM:
          return (io.grpc.stub.StreamObserver<Req>) serviceImpl.countMessagesStream(
              (io.grpc.stub.StreamObserver<dev.tokencount.v1.CountMessagesStreamResponse>) responseObserver);
        default:
          throw new AssertionError();
      }
    }
  }

  public static final io.grpc.ServerServiceDefinition bindService(AsyncService service) {
    return io.grpc.ServerServiceDefinition.builder(getServiceDescriptor())
        .addMethod(
          getCountMessagesMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              dev.tokencount.v1.CountMessagesRequest,
              dev.tokencount.v1.CountMessagesResponse>(
                service, METHODID_COUNT_MESSAGES)))
        .addMethod(
          getCountMessagesStreamMethod(),
          io.grpc.stub.ServerCalls.asyncBidiStreamingCall(
            new MethodHandlers<
              dev.tokencount.v1.CountMessagesStreamRequest,
              dev.tokencount.v1.CountMessagesStreamResponse>(
                service, METHODID_COUNT_MESSAGES_STREAM)))
        .addMethod(
          getEstimateConversationMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              dev.tokencount.v1.EstimateConversationRequest,
              dev.tokencount.v1.EstimateConversationResponse>(
                service, METHODID_ESTIMATE_CONVERSATION)))
        .addMethod(
          getRecordActualMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              dev.tokencount.v1.RecordActualRequest,
              dev.tokencount.v1.RecordActualResponse>(
                service, METHODID_RECORD_ACTUAL)))
        .build();
  }

  private static abstract class TokenCounterServiceBaseDescriptorSupplier
      implements io.grpc.protobuf.ProtoFileDescriptorSupplier, io.grpc.protobuf.ProtoServiceDescriptorSupplier {
    TokenCounterServiceBaseDescriptorSupplier() {}

    @java.lang.Override
    public com.google.protobuf.Descriptors.FileDescriptor getFileDescriptor() {
      return dev.tokencount.v1.TokenCounterServiceOuterClass.getDescriptor();
    }

    @java.lang.Override
    public com.google.protobuf.Descriptors.ServiceDescriptor getServiceDescriptor() {
      return getFileDescriptor().findServiceByName("TokenCounterService");
    }
  }

  private static final class TokenCounterServiceFileDescriptorSupplier
      extends TokenCounterServiceBaseDescriptorSupplier {
    TokenCounterServiceFileDescriptorSupplier() {}
  }

  private static final class TokenCounterServiceMethodDescriptorSupplier
      extends TokenCounterServiceBaseDescriptorSupplier
      implements io.grpc.protobuf.ProtoMethodDescriptorSupplier {
    private final java.lang.String methodName;

    TokenCounterServiceMethodDescriptorSupplier(java.lang.String methodName) {
      this.methodName = methodName;
    }

    @java.lang.Override
    public com.google.protobuf.Descriptors.MethodDescriptor getMethodDescriptor() {
      return getServiceDescriptor().findMethodByName(methodName);
    }
  }

  private static volatile io.grpc.ServiceDescriptor serviceDescriptor;

  public static io.grpc.ServiceDescriptor getServiceDescriptor() {
    io.grpc.ServiceDescriptor result = serviceDescriptor;
    if (result == null) {
      synchronized (TokenCounterServiceGrpc.class) {
        result = serviceDescriptor;
        if (result == null) {
          serviceDescriptor = result = io.grpc.ServiceDescriptor.newBuilder(SERVICE_NAME)
              .setSchemaDescriptor(new TokenCounterServiceFileDescriptorSupplier())
              .addMethod(getCountMessagesMethod())
              .addMethod(getCountMessagesStreamMethod())
              .addMethod(getEstimateConversationMethod())
              .addMethod(getRecordActualMethod())
              .build();
        }
      }
    }
    return result;
  }
}
