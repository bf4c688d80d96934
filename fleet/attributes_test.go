package main

import (
	"context"
	"errors"
	"testing"
	"time"

	"go.temporal.io/api/common/v1"
	enums "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/operatorservice/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"google.golang.org/grpc"
)

// operators are those of a namespace with search attributes.
type operators struct {
	operatorservice.OperatorServiceClient
	there   map[string]enums.IndexedValueType
	refuses bool
	blind   bool // it does not list them
}

var errNotOperator = errors.New("you are no operator")

func (o *operators) AddSearchAttributes(
	_ context.Context, r *operatorservice.AddSearchAttributesRequest, _ ...grpc.CallOption,
) (*operatorservice.AddSearchAttributesResponse, error) {
	if o.refuses {
		return nil, errNotOperator
	}
	for name, kind := range r.SearchAttributes {
		if _, exists := o.there[name]; !exists {
			o.there[name] = kind
		}
	}
	return nil, nil
}

func (o *operators) ListSearchAttributes(
	context.Context, *operatorservice.ListSearchAttributesRequest, ...grpc.CallOption,
) (*operatorservice.ListSearchAttributesResponse, error) {
	if o.blind {
		return nil, errNotOperator
	}
	return &operatorservice.ListSearchAttributesResponse{CustomAttributes: o.there}, nil
}

// TestRegister: workflows set search attributes only in a namespace that has all, each of its kind.
func TestRegister(t *testing.T) {
	all := map[string]enums.IndexedValueType{
		sceneAttribute: enums.INDEXED_VALUE_TYPE_INT, shareAttribute: enums.INDEXED_VALUE_TYPE_DOUBLE,
		endpointAttribute: enums.INDEXED_VALUE_TYPE_KEYWORD,
	}
	none := func() map[string]enums.IndexedValueType { return map[string]enums.IndexedValueType{} }
	for _, c := range []struct {
		name      string
		operators operators
		takes     bool
	}{
		{"they are added", operators{there: none()}, true},
		{"an operator has added them", operators{there: all, refuses: true}, true},
		{"nobody has", operators{there: none(), refuses: true}, false},
		{"nobody says", operators{there: all, refuses: true, blind: true}, false},
		{
			"one is of another kind",
			operators{there: map[string]enums.IndexedValueType{shareAttribute: enums.INDEXED_VALUE_TYPE_INT}}, false,
		},
	} {
		if err := register(t.Context(), &c.operators, "default"); (err == nil) != c.takes {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// TestProgressIsTold: a workflow sets search attributes when an attempt tells of progress, and at its end. Status reads
// them.
func TestProgressIsTold(t *testing.T) {
	env := quietSuite().NewTestWorkflowEnvironment()
	env.SetTestTimeout(time.Minute)
	told := []progress{{Scene: 5, Scenes: 20, Endpoint: "http://one"}, {Scene: 10, Scenes: 20, Endpoint: "http://one"}}
	for i, share := range []float64{0.25, 0.5} {
		env.OnUpsertTypedSearchAttributes(temporal.NewSearchAttributes(
			temporal.NewSearchAttributeKeyInt64("AnnotatorScene").ValueSet(int64(told[i].Scene)),
			temporal.NewSearchAttributeKeyFloat64("AnnotatorShare").ValueSet(share),
			temporal.NewSearchAttributeKeyKeyword("AnnotatorEndpoint").ValueSet("http://one"),
		)).Return(nil).Once()
		at := time.Duration(i+1) * time.Second
		env.RegisterDelayedCallback(func() { env.SignalWorkflow(progressTold, told[i]) }, at)
	}
	env.OnUpsertTypedSearchAttributes(temporal.NewSearchAttributes(
		temporal.NewSearchAttributeKeyInt64("AnnotatorScene").ValueSet(20),
		temporal.NewSearchAttributeKeyFloat64("AnnotatorShare").ValueSet(1),
	)).Return(nil).Once()
	attempts := 0
	env.RegisterActivityWithOptions(func(context.Context, string) (progress, error) {
		if attempts++; attempts == 5 {
			return progress{Scene: 20, Scenes: 20}, nil
		}
		return progress{}, temporal.NewApplicationErrorWithOptions("held", "held",
			temporal.ApplicationErrorOptions{NextRetryDelay: time.Second})
	}, activity.RegisterOptions{Name: readActivity})
	env.ExecuteWorkflow(readStory, task{Story: "a", TTL: time.Minute})
	if err := env.GetWorkflowError(); err != nil {
		t.Error(err)
	}
	env.AssertExpectations(t)
	var read progress
	scene, err := converter.GetDefaultDataConverter().ToPayload(5)
	if err != nil {
		t.Fatal(err)
	}
	read.fromAttributes(map[string]*common.Payload{sceneAttribute: scene})
	if read.Scene != 5 {
		t.Errorf("read is %+v", read)
	}
}
