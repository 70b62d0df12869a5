package tokencount_test

import (
	"context"
	"encoding/json"
	"os"
	"testing"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	pb "github.com/tokencount/tokencount/clients/go/tokencountv1"
)

// table holds the cases that all clients share.
type table struct {
	Conversations []struct {
		prompt
		Body         json.RawMessage `json:"body"`
		Reply        json.RawMessage `json:"reply"`
		Usage        json.RawMessage `json:"usage"`
		BilledTokens uint32          `json:"billed_tokens"`
		KnownTokens  uint32          `json:"known_tokens"`
		NextBody     json.RawMessage `json:"next_body"`
	} `json:"conversations"`
	Errors []struct {
		prompt
		Call     string `json:"call"`
		BodyText string `json:"body_text"`
		Base     []byte `json:"base64"`
		Code     string `json:"code"`
		Reason   string `json:"reason"`
		Field    string `json:"field"`
	} `json:"errors"`
}

type prompt struct {
	Name   string `json:"name"`
	Format string `json:"format"`
	Model  string `json:"model"`
}

func (p prompt) request(body []byte) *pb.ProviderRequest {
	format := pb.Format(pb.Format_value[p.Format])
	return &pb.ProviderRequest{Format: format, Model: p.Model, Body: body}
}

func TestConversations(t *testing.T) {
	cases, client := load(t), connect(t)
	for _, c := range cases.Conversations {
		t.Run(c.Name, func(t *testing.T) {
			ctx := deadline(t)
			whole := c.request(c.Body)
			counted, err := client.CountMessages(ctx, &pb.CountMessagesRequest{
				Prompt: &pb.CountMessagesRequest_ProviderRequest{ProviderRequest: whole}})
			expect(t, err == nil, "count: %v", err)
			expect(t, counted.Count.Tokens > 0, "no tokens: %v", counted)
			expect(t, counted.Count.UpperBound >= counted.Count.Tokens, "bound: %v", counted)
			expect(t, counted.Count.Source == pb.Source_SOURCE_ESTIMATED, "source: %v", counted)

			estimated, err := client.EstimateConversation(ctx, &pb.EstimateConversationRequest{
				Prompt: &pb.EstimateConversationRequest_ProviderRequest{ProviderRequest: whole}})
			expect(t, err == nil, "estimate: %v", err)
			expect(t, len(estimated.Count.PrefixKey) > 0, "no prefix key: %v", estimated)

			recorded, err := client.RecordActual(ctx, &pb.RecordActualRequest{
				Prompt: &pb.RecordActualRequest_ProviderRequest{ProviderRequest: whole},
				Status: pb.Status_STATUS_SUCCEEDED,
				Bill:   &pb.RecordActualRequest_UsageJson{UsageJson: c.Usage},
				Reply:  &pb.Reply{Content: &pb.Reply_Json{Json: c.Reply}}})
			expect(t, err == nil, "record: %v", err)
			expect(t, recorded.Learned, "not learned: %v", recorded)
			expect(t, recorded.BilledTokens == c.BilledTokens, "billed: %v", recorded)

			next, err := client.EstimateConversation(ctx, &pb.EstimateConversationRequest{
				Prompt: &pb.EstimateConversationRequest_ProviderRequest{
					ProviderRequest: c.request(c.NextBody)},
				Base: recorded.PrefixKey})
			expect(t, err == nil, "estimate by base: %v", err)
			expect(t, next.Count.Source == pb.Source_SOURCE_DELTA, "source: %v", next)
			expect(t, next.Count.KnownTokens >= c.KnownTokens, "known: %v", next)
			expect(t, next.Count.NewMessages == 1, "new messages: %v", next)
		})
	}
}

func TestErrors(t *testing.T) {
	cases, client := load(t), connect(t)
	for _, c := range cases.Errors {
		t.Run(c.Name, func(t *testing.T) {
			var err error
			body := c.request([]byte(c.BodyText))
			if c.Call == "count" {
				_, err = client.CountMessages(deadline(t), &pb.CountMessagesRequest{
					Prompt: &pb.CountMessagesRequest_ProviderRequest{ProviderRequest: body}})
			} else {
				_, err = client.EstimateConversation(deadline(t), &pb.EstimateConversationRequest{
					Prompt: &pb.EstimateConversationRequest_ProviderRequest{ProviderRequest: body},
					Base:   c.Base})
			}
			reason, field := details(err)
			var code codes.Code
			expect(t, code.UnmarshalJSON([]byte(`"`+c.Code+`"`)) == nil, "code %q", c.Code)
			expect(t, status.Code(err) == code, "code: %v", err)
			expect(t, reason == c.Reason, "reason %q: %v", reason, err)
			expect(t, field == c.Field, "field %q: %v", field, err)
		})
	}
}

// details gives the reason of an error and the path of the field that is wrong.
func details(err error) (reason, field string) {
	for _, detail := range status.Convert(err).Details() {
		switch detail := detail.(type) {
		case *errdetails.ErrorInfo:
			reason = detail.Reason
		case *errdetails.BadRequest:
			field = detail.FieldViolations[0].Field
		}
	}
	return reason, field
}

func load(t *testing.T) (cases table) {
	text, err := os.ReadFile("../../tests/cases/clients.json")
	expect(t, err == nil, "cases: %v", err)
	err = json.Unmarshal(text, &cases)
	expect(t, err == nil, "cases: %v", err)
	expect(t, len(cases.Conversations) > 0 && len(cases.Errors) > 0, "no cases")
	return cases
}

func connect(t *testing.T) pb.TokenCounterServiceClient {
	connection, err := grpc.NewClient(start(t),
		grpc.WithTransportCredentials(insecure.NewCredentials()))
	expect(t, err == nil, "connect: %v", err)
	t.Cleanup(func() { _ = connection.Close() })
	return pb.NewTokenCounterServiceClient(connection)
}

func deadline(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	t.Cleanup(cancel)
	return ctx
}

func expect(t *testing.T, holds bool, format string, values ...any) {
	t.Helper()
	if !holds {
		t.Fatalf(format, values...)
	}
}
