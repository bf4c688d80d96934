package main

import (
	"cmp"
	"context"
	"fmt"

	"go.temporal.io/api/common/v1"
	enums "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/operatorservice/v1"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
)

// Search attributes have the engine list and find stories by their progress.
const (
	sceneAttribute    = "AnnotatorScene"
	shareAttribute    = "AnnotatorShare" // of the scenes that are done, from 0 to 1
	endpointAttribute = "AnnotatorEndpoint"
)

// attributeSteps is how often a story's attributes change at most in an attempt: each change is kept in its history.
const attributeSteps = 20

// step counts the changes of the attributes.
func (p *progress) step() int { return attributeSteps * p.Scene / max(p.Scenes, 1) }

// attributes returns the search attributes of a story.
func (p *progress) attributes() []temporal.SearchAttributeUpdate {
	updates := []temporal.SearchAttributeUpdate{
		temporal.NewSearchAttributeKeyInt64(sceneAttribute).ValueSet(int64(p.Scene)),
		temporal.NewSearchAttributeKeyFloat64(shareAttribute).ValueSet(float64(p.Scene) / float64(max(p.Scenes, 1))),
	}
	if p.Endpoint != "" {
		updates = append(updates, temporal.NewSearchAttributeKeyKeyword(endpointAttribute).ValueSet(p.Endpoint))
	}
	return updates
}

// fromAttributes sets what search attributes say.
func (p *progress) fromAttributes(fields map[string]*common.Payload) {
	read := converter.GetDefaultDataConverter().FromPayload
	_ = read(fields[sceneAttribute], &p.Scene)
	_ = read(fields[endpointAttribute], &p.Endpoint)
}

// register has a namespace have the search attributes. Not every server lets its clients do that.
func register(ctx context.Context, operator operatorservice.OperatorServiceClient, namespace string) error {
	kinds := map[string]enums.IndexedValueType{
		sceneAttribute:    enums.INDEXED_VALUE_TYPE_INT,
		shareAttribute:    enums.INDEXED_VALUE_TYPE_DOUBLE,
		endpointAttribute: enums.INDEXED_VALUE_TYPE_KEYWORD,
	}
	// Those that are there are left as they are.
	_, refused := operator.AddSearchAttributes(ctx, &operatorservice.AddSearchAttributesRequest{
		SearchAttributes: kinds, Namespace: namespace,
	})
	there, err := operator.ListSearchAttributes(ctx, &operatorservice.ListSearchAttributesRequest{Namespace: namespace})
	if err != nil {
		return cmp.Or(refused, err)
	}
	for name, kind := range kinds {
		if is, exists := there.CustomAttributes[name]; exists && is != kind {
			return fmt.Errorf("%s is there as %s, not as %s", name, is, kind)
		} else if !exists && refused != nil {
			return refused
		}
	}
	return nil
}
