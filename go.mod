module github.com/holdfast-db/holdfast

go 1.26.0

require go.mongodb.org/mongo-driver/v2 v2.9.3
